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

// Contexts are the commands over the servers that commands may ask through their API.
type Contexts struct {
	Add    addContext    `cmd:"" help:"Add or replace a server and who asks it, and make it the current one."`
	List   listContexts  `cmd:"" help:"List the contexts, without their secrets."`
	Use    useContext    `cmd:"" help:"Make a context the current one."`
	Remove removeContext `cmd:"" help:"Remove a context, and the secrets that it holds."`
}

// contextsFile says where the contexts are.
type contextsFile struct {
	Contexts string `default:"~/.config/rotaloom/contexts.yaml" type:"path" help:"File of the contexts."`
}

type addContext struct {
	contextsFile
	Name         string     `arg:"" help:"Name of the context."`
	URL          string     `name:"url" required:"" help:"URL of the server: https://host or https://host:port. The host says which tenant is meant."`
	CAFile       string     `name:"ca-file" type:"path" help:"Authorities of the server's certificate (PEM), when they are not among the machine's."`
	ClientID     string     `required:"" help:"Id of the OAuth client."`
	ClientSecret obs.Secret `required:"" help:"Secret of the client, best as a variable or a file."`
	Username     string     `help:"Name of the user; the client works for itself without one."`
	Password     obs.Secret `help:"Password of the user, best as a variable or a file."`
}

// Do adds the context once the server has let it in.
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
	_, err = fmt.Fprintf(out, "%s leads to %s, and is the current context\n", a.Name, a.URL)
	return err
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
		for _, of := range listed {
			current := ""
			if of.Current {
				current = "*"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", current, of.Name, of.URL, of.ClientID, of.Username)
		}
	})
}

type useContext struct {
	contextsFile
	Name string `arg:"" help:"Name of the context."`
}

// Do says that it is done.
func (u *useContext) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	if err := remote.Open(u.Contexts).Use(u.Name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s is the current context\n", u.Name)
	return err
}

type removeContext struct {
	contextsFile
	Name string `arg:"" help:"Name of the context."`
}

// Do says that it is done.
func (r *removeContext) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	if err := remote.Open(r.Contexts).Remove(r.Name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s is removed\n", r.Name)
	return err
}
