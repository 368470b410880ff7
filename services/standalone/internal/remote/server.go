package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// localState is the default state folder of a server on this machine.
const localState = ".state"

// Server selects the server that a command calls. Commands embed it.
type Server struct {
	Context  string `help:"Name of the context (see context add) of the server to call. Default: the server of --state-dir, of the current context, or of the folder .state."`
	Contexts string `default:"~/.config/rotaloom/contexts.yaml" type:"path" help:"File of the contexts."`
	StateDir string `type:"path" help:"State folder of a server on this machine."`
}

// Resolve returns the address and credentials of the server.
func (s Server) Resolve() (Context, error) {
	if s.Context == "" && s.StateDir != "" {
		return local(s.StateDir)
	}
	of, found, err := Open(s.Contexts).Get(s.Context)
	if found || err != nil {
		return of, err
	}
	of, err = local(localState)
	if errors.Is(err, fs.ErrNotExist) {
		return of, errors.New("no server is selected: add a context (rotaloom context add), or name the state folder of a local server (--state-dir)")
	}
	return of, err
}

// Connect logs in to the server and returns a client.
func (s Server) Connect(ctx context.Context) (*Client, error) {
	of, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	return Connect(ctx, of)
}

// local returns the first administrator's context for the server with a state folder.
func local(dir string) (Context, error) {
	ready, err := state.ReadReady(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Context{}, fmt.Errorf("no server runs with the state folder %s: %w", dir, err)
	}
	if err != nil {
		return Context{}, err
	}
	of := Local(ready)
	of.StateDir = dir
	return of, nil
}

// Local returns the first administrator's context for a server on this machine.
func Local(ready state.Ready) Context {
	who := ready.Credentials
	return Context{
		URL: ready.BaseURL, CAFile: ready.CAFile,
		Username: who.Username, Password: who.Password, ClientID: who.ClientID, ClientSecret: who.ClientSecret,
	}
}
