// Package remote lets commands call any server through its API. A context contains the address of the server
// and the credentials.
package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

// Context contains the address of a server and the credentials.
type Context struct {
	// URL has a scheme and a host only.
	URL string `yaml:"url"`
	// CAFile contains the CA certificates for the server (PEM). If it is empty, the CA certificates of the
	// machine are used.
	CAFile string `yaml:"ca-file,omitempty"`
	// ClientID and ClientSecret are the credentials of an OAuth client.
	ClientID     string `yaml:"client-id"`
	ClientSecret string `yaml:"client-secret"`
	// Username and Password are a user's. Without them, the client acts for itself.
	Username string `yaml:"username,omitempty"`
	Password string `yaml:"password,omitempty"`
	// StateDir is the state folder of a server on this machine that no context names.
	StateDir string `yaml:"-"`
}

// errURL is the error of a URL that is unencrypted or malformed.
var errURL = errors.New("the URL of a server must be of the form https://host or https://host:port")

// Check returns the problem of a context, or nil.
func (c Context) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return errURL
	case c.ClientID == "" || c.ClientSecret == "":
		return errors.New("set a client id and its secret: --client-id, --client-secret")
	case (c.Username == "") != (c.Password == ""):
		return errors.New("set both the user name and the password, or neither")
	}
	return nil
}

// contextName matches the valid names of contexts.
var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// file is the content of the contexts file.
type file struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`
}

// Contexts are the contexts in a file. Only its owner can read the file, because it contains secrets.
type Contexts struct{ path string }

// Open returns the contexts of a file, which need not exist yet.
func Open(path string) *Contexts { return &Contexts{path} }

// read returns the content of the file, or an empty one if it does not exist.
func (c *Contexts) read() (file, error) {
	f := file{Contexts: map[string]Context{}}
	data, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = yaml.Unmarshal(data, &f)
	}
	if err != nil {
		return f, fmt.Errorf("contexts: %s: %w", c.path, err)
	}
	if f.Contexts == nil {
		f.Contexts = map[string]Context{}
	}
	return f, nil
}

// change changes the file, or leaves it unchanged if fn fails. While another process changes the file, it
// returns filelock.ErrLocked.
func (c *Contexts) change(fn func(f *file) error) (err error) {
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	lock, err := filelock.Try(c.path + ".lock")
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := c.read()
	if err != nil {
		return err
	}
	if err := fn(&f); err != nil {
		return err
	}
	data, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	part := c.path + ".part"
	// A leftover file may be readable by others, and WriteFile would keep its permissions.
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("contexts: %w", err)
	}
	if err := os.WriteFile(part, data, 0o600); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	return os.Rename(part, c.path)
}

// Add adds or replaces a context, and makes it the current one.
func (c *Contexts) Add(name string, added Context) error {
	if !contextName.MatchString(name) {
		return errors.New("a context needs a name of letters, digits and . _ -, at most 100, beginning with a letter or a digit")
	}
	if err := added.Check(); err != nil {
		return err
	}
	return c.change(func(f *file) error {
		f.Contexts[name], f.Current = added, name
		return nil
	})
}

// Use makes a context the current one.
func (c *Contexts) Use(name string) error {
	return c.change(func(f *file) error {
		if _, known := f.Contexts[name]; !known {
			return unknownContext(name)
		}
		f.Current = name
		return nil
	})
}

// Remove removes a context and its secrets.
func (c *Contexts) Remove(name string) error {
	return c.change(func(f *file) error {
		if _, known := f.Contexts[name]; !known {
			return unknownContext(name)
		}
		delete(f.Contexts, name)
		if f.Current == name {
			f.Current = ""
		}
		return nil
	})
}

func unknownContext(name string) error {
	return fmt.Errorf("there is no context %q: rotaloom context list shows the existing ones", name)
}

// Listed is a context without its secrets.
type Listed struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	URL     string `json:"url"`
	// Username is empty if the client acts for itself.
	Username string `json:"username,omitempty"`
	ClientID string `json:"clientId"`
}

// List returns the contexts, sorted by name.
func (c *Contexts) List() ([]Listed, error) {
	f, err := c.read()
	if err != nil {
		return nil, err
	}
	listed := []Listed{}
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		found := f.Contexts[name]
		listed = append(listed, Listed{name, name == f.Current, found.URL, found.Username, found.ClientID})
	}
	return listed, nil
}

// Get returns a context, or the current one if name is empty. It returns false if name is empty and there is no
// current context.
func (c *Contexts) Get(name string) (entry Context, found bool, err error) {
	f, err := c.read()
	if err != nil {
		return entry, false, err
	}
	if name == "" {
		if f.Current == "" {
			return entry, false, nil
		}
		name = f.Current
	}
	entry, found = f.Contexts[name]
	if !found {
		return entry, false, unknownContext(name)
	}
	return entry, true, nil
}
