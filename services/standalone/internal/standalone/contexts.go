package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/services/standalone/internal/remote"
)

// Contexts contains the commands for the list of servers that commands call through their API.
type Contexts struct {
	Add    addContext    `cmd:"" help:"Add or replace a server with credentials, and make it the current context."`
	List   listContexts  `cmd:"" help:"List the contexts, without their secrets."`
	Use    useContext    `cmd:"" help:"Make a context the current one."`
	Remove removeContext `cmd:"" help:"Remove a context and its secrets."`
}

// contextsFile selects the contexts file.
type contextsFile struct {
	Contexts string `default:"~/.config/rotaloom/contexts.yaml" type:"path" help:"File of the contexts."`
}

type addContext struct {
	boot.Output
	contextsFile
	Name         string     `arg:"" help:"Name of the context."`
	URL          string     `name:"url" required:"" help:"URL of the server: https://host or https://host:port. The host selects the tenant."`
	CAFile       string     `name:"ca-file" type:"path" help:"CA certificates for the server (PEM), if the machine does not have them."`
	ClientID     string     `required:"" help:"Id of the OAuth client."`
	ClientSecret obs.Secret `required:"" help:"Secret of the client; prefer an environment variable or a file to the flag."`
	Username     string     `help:"Name of the user; without one, the client acts for itself."`
	Password     obs.Secret `help:"Password of the user; prefer an environment variable or a file to the flag."`
}

// Do logs in to the server and then adds the context.
func (a *addContext) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	added := remote.Context{
		URL: a.URL, CAFile: a.CAFile, ClientID: a.ClientID, ClientSecret: a.ClientSecret.Reveal(),
		Username: a.Username, Password: a.Password.Reveal(),
	}
	if err := added.Check(); err != nil {
		return err
	}
	client, err := remote.Connect(ctx, added)
	if err != nil {
		return err
	}
	client.Close()
	if err := remote.Open(a.Contexts).Add(a.Name, added); err != nil {
		return err
	}
	return a.PrintLine(out, map[string]any{"name": a.Name, "url": a.URL, "current": true}, "%s points to %s, and is the current context", a.Name, a.URL)
}

type listContexts struct {
	boot.Output
	contextsFile
}

// Do prints the contexts.
func (l *listContexts) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	listed, err := remote.Open(l.Contexts).List()
	if err != nil {
		return err
	}
	return l.Print(out, listed, func(table io.Writer) {
		fmt.Fprintln(table, "current\tname\turl\tclient\tuser")
		for _, entry := range listed {
			current := ""
			if entry.Current {
				current = "*"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", current, entry.Name, entry.URL, entry.ClientID, entry.Username)
		}
	})
}

type useContext struct {
	boot.Output
	contextsFile
	Name string `arg:"" help:"Name of the context."`
}

// Do makes the context the current one and reports success.
func (u *useContext) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	if err := remote.Open(u.Contexts).Use(u.Name); err != nil {
		return err
	}
	return u.PrintLine(out, map[string]any{"name": u.Name, "current": true}, "%s is the current context", u.Name)
}

type removeContext struct {
	boot.Output
	contextsFile
	Name string `arg:"" help:"Name of the context."`
}

// Do removes the context and reports success.
func (r *removeContext) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	if err := remote.Open(r.Contexts).Remove(r.Name); err != nil {
		return err
	}
	return r.PrintLine(out, map[string]any{"name": r.Name, "removed": true}, "%s is removed", r.Name)
}
