package natsconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// errURL never holds the URL, in which there may be a password.
var errURL = errors.New("bus: the NATS URL cannot be read: it must be tls://user:password@host:4222, or several of them, separated by commas")

// checkSecure refuses servers on other machines that are reached without TLS, where
// anybody on the way could read and forge events, or without a user, since a server
// that lets everybody in lets everybody publish.
func (c Config) checkSecure() error {
	if c.AllowInsecure || c.URL == "" {
		return nil
	}
	for _, text := range strings.Split(c.URL.Reveal(), ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return errURL
		}
		if onThisMachine(u.Hostname()) {
			continue
		}
		if u.Scheme != "tls" && u.Scheme != "wss" {
			return fmt.Errorf("bus: NATS at %s is reached without TLS: write tls:// instead of %s://, or say --nats-allow-insecure", u.Host, u.Scheme)
		}
		if u.User == nil && c.Credentials == "" && c.Cert == "" {
			return fmt.Errorf("bus: NATS at %s is reached without a user: put one in the URL, or give --nats-credentials or --nats-cert, or say --nats-allow-insecure", u.Host)
		}
	}
	return nil
}

// onThisMachine reports whether a host is a loopback address.
func onThisMachine(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
