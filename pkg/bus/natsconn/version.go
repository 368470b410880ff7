package natsconn

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// MinServerVersion is the oldest release of nats-server that supports several subjects for one
// consumer. An older one accepts them silently, and delivers nothing.
const MinServerVersion = "2.10.0"

// checkServer returns an error if the server of a connection is too old. Without a connection it
// returns nil.
func checkServer(conn *nats.Conn) error {
	version := conn.ConnectedServerVersion()
	if version == "" || !older(version, MinServerVersion) {
		return nil
	}
	return fmt.Errorf("the NATS server %s is version %s, and Rotaloom needs %s or newer: install a newer nats-server",
		conn.ConnectedUrlRedacted(), version, MinServerVersion)
}

// older compares the numbers of two versions, ignoring pre-release suffixes.
func older(version, than string) bool {
	a, b := versionNumbers(version), versionNumbers(than)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func versionNumbers(version string) (n [3]int) {
	release, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(release, ".", len(n)) {
		n[i], _ = strconv.Atoi(part) // A part that is not a number counts as 0.
	}
	return n
}

// Probe returns an error if a running server is too old, before the program starts anything that
// needs it. It returns nil if no server responds.
func Probe(cfg Config) error {
	conn, err := Connect(cfg, "probe", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	conn.Close()
	return nil
}

// Watch returns an error when the connection reaches a server that is too old, and nil when the
// context ends. A connection is established in the background, and may reach another server each
// time.
func Watch(ctx context.Context, conn *nats.Conn) error {
	status := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(status)
	for {
		if err := checkServer(conn); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-status:
			if !open {
				return nil
			}
		}
	}
}
