package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// localState is where a server on this machine has its state unless it is set otherwise.
const localState = ".state"

// Server says which server a command asks. A command embeds it.
type Server struct {
	Context  string `help:"Which server is asked, as context add has called it. Without it, that of --state-dir, of the current context, or of the folder .state."`
	Contexts string `default:"~/.config/rotaloom/contexts.yaml" type:"path" help:"File of the contexts."`
	StateDir string `type:"path" help:"State folder of a server on this machine."`
}

// Resolve returns where the server is.
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
		return of, errors.New("which server? Name a context (rotaloom context add), or the folder of one that serves here (--state-dir)")
	}
	return of, err
}

// Connect returns a client of the server that has logged in.
func (s Server) Connect(ctx context.Context) (*Client, error) {
	of, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	return Connect(ctx, of)
}

// local is how the first administrator asks the server with a state folder.
func local(dir string) (Context, error) {
	ready, err := state.ReadReady(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Context{}, fmt.Errorf("no server serves from the state folder %s: %w", dir, err)
	}
	if err != nil {
		return Context{}, err
	}
	return Local(ready), nil
}

// Local is how the first administrator asks a server on this machine.
func Local(ready state.Ready) Context {
	who := ready.Credentials
	return Context{
		URL: ready.BaseURL, CAFile: ready.CAFile,
		Username: who.Username, Password: who.Password, ClientID: who.ClientID, ClientSecret: who.ClientSecret,
	}
}
