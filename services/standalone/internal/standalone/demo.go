package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/remote"
	"github.com/rotaloom/rotaloom/services/standalone/internal/seed"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// Demo creates the demonstration on any server.
type Demo struct {
	remote.Server
}

// Do creates the missing parts, and prints each step as it begins.
func (d *Demo) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	server, err := d.Resolve()
	if err != nil {
		return err
	}
	if server.Username == "" {
		return errors.New("creating the demonstration needs a user: add the context again with --username")
	}
	return createDemo(ctx, out, clock.System{}.Now(), server)
}

// seedOnce creates the demonstration of serve --demo.
func seedOnce(ctx context.Context, out io.Writer, now time.Time, folder *state.Folder, ready state.Ready) error {
	if err := createDemo(ctx, out, now, remote.Local(ready)); err != nil {
		return err
	}
	return folder.MarkSeeded()
}

func createDemo(ctx context.Context, out io.Writer, now time.Time, server remote.Context) error {
	connections, err := server.HTTPClient()
	if err != nil {
		return err
	}
	defer connections.CloseIdleConnections()
	client := &seed.Client{BaseURL: server.URL, HTTP: connections}
	if err := client.Login(ctx, seed.Credentials{Username: server.Username, Password: server.Password, ClientID: server.ClientID, ClientSecret: server.ClientSecret}); err != nil {
		return err
	}
	progress := func(step string) { fmt.Fprintf(out, "  %s\n", step) }
	return seed.Demo(ctx, client, now, progress)
}
