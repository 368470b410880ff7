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

// Demo fills a server that serves anywhere with the demonstration.
type Demo struct {
	remote.Server
}

// Do creates what is not there yet, and prints each step as it begins.
func (d *Demo) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	of, err := d.Resolve()
	if err != nil {
		return err
	}
	if of.Username == "" {
		return errors.New("the demonstration is made by a user: add the context again with --username")
	}
	return createDemo(ctx, out, clock.System{}.Now(), of)
}

// seedOnce creates the demonstration of serve --demo.
func seedOnce(ctx context.Context, out io.Writer, now time.Time, folder *state.Folder, ready state.Ready) error {
	if err := createDemo(ctx, out, now, remote.Local(ready)); err != nil {
		return err
	}
	return folder.MarkSeeded()
}

func createDemo(ctx context.Context, out io.Writer, now time.Time, of remote.Context) error {
	connections, err := of.HTTPClient()
	if err != nil {
		return err
	}
	defer connections.CloseIdleConnections()
	client := &seed.Client{BaseURL: of.URL, HTTP: connections}
	if err := client.Login(ctx, seed.Credentials{Username: of.Username, Password: of.Password, ClientID: of.ClientID, ClientSecret: of.ClientSecret}); err != nil {
		return err
	}
	progress := func(step string) { fmt.Fprintf(out, "  %s\n", step) }
	return seed.Demo(ctx, client, now, progress)
}
