package standalone

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/remote"
	"github.com/rotaloom/rotaloom/services/standalone/internal/seed"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// Demo creates the demonstration on any server.
type Demo struct {
	boot.Output
	remote.Server
}

// createdDemo is the JSON output. It has the password of the users, or the file with it.
type createdDemo struct {
	URL          string `json:"url"`
	Password     string `json:"password,omitempty"`
	PasswordFile string `json:"passwordFile,omitempty"`
}

// Do creates the missing parts, and prints each step as it begins, and the password of the users at the end.
func (d *Demo) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	server, err := d.Resolve()
	if err != nil {
		return err
	}
	if server.Username == "" {
		return errors.New("creating the demonstration needs a user: add the context again with --username")
	}
	progress := out
	if d.JSON() {
		progress = io.Discard
	}
	if server.StateDir != "" {
		err := createLocalDemo(ctx, progress, clock.System{}, server, server.StateDir)
		if err != nil || !d.JSON() {
			return err
		}
		return d.Print(out, createdDemo{URL: server.URL, PasswordFile: state.DemoPath(server.StateDir)}, nil)
	}
	password := rand.Text()
	if err := createDemo(ctx, progress, clock.System{}, server, password); err != nil {
		return err
	}
	return d.PrintLine(out, createdDemo{URL: server.URL, Password: password}, "Its users have the password %s.", password)
}

// seedOnce creates the demonstration of serve --demo.
func seedOnce(ctx context.Context, out io.Writer, source clock.Clock, folder *state.Folder, ready state.Ready) error {
	if err := createLocalDemo(ctx, out, source, remote.Local(ready), folder.Dir); err != nil {
		return err
	}
	return folder.MarkSeeded()
}

// createLocalDemo creates the demonstration on a server on this machine. The password of the users stays in the state
// folder, so that an interrupted run is continued with the same one.
func createLocalDemo(ctx context.Context, out io.Writer, source clock.Clock, server remote.Context, dir string) error {
	password, err := state.DemoPassword(dir)
	if err != nil {
		return err
	}
	if err := createDemo(ctx, out, source, server, password); err != nil {
		return err
	}
	fmt.Fprintf(out, "The password of its users: %s.\n", state.DemoPath(dir))
	return nil
}

func createDemo(ctx context.Context, out io.Writer, source clock.Clock, server remote.Context, password string) error {
	connections, err := server.HTTPClient()
	if err != nil {
		return err
	}
	defer connections.CloseIdleConnections()
	began := source.Now()
	client := &seed.Client{BaseURL: server.URL, HTTP: connections}
	if err := client.Login(ctx, seed.Credentials{Username: server.Username, Password: server.Password, ClientID: server.ClientID, ClientSecret: server.ClientSecret}); err != nil {
		return err
	}
	progress := func(step string) { fmt.Fprintf(out, "  %s\n", step) }
	if err := seed.Demo(ctx, client, began, password, progress); err != nil {
		return err
	}
	fmt.Fprintf(out, "The demonstration is complete after %.1f s.\n", source.Now().Sub(began).Seconds())
	return nil
}
