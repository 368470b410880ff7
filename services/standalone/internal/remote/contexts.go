// Package remote lets commands ask a server through its API, whoever runs it and
// wherever: a context says where it is and who asks.
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

// Context says where a server is, and who asks.
type Context struct {
	// URL has a scheme and a host, and nothing behind them.
	URL string `yaml:"url"`
	// CAFile holds the authorities of the server's certificate (PEM); those of the
	// machine count when it is empty.
	CAFile string `yaml:"ca-file,omitempty"`
	// ClientID and ClientSecret are those of an OAuth client.
	ClientID     string `yaml:"client-id"`
	ClientSecret string `yaml:"client-secret"`
	// Username and Password are those of a user. The client works for itself without.
	Username string `yaml:"username,omitempty"`
	Password string `yaml:"password,omitempty"`
}

// errURL is the error of a URL by which secrets would be readable on their way.
var errURL = errors.New("the URL of a server must be of the form https://host or https://host:port")

// Check says what is wrong with a context, or nil.
func (c Context) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return errURL
	case c.ClientID == "" || c.ClientSecret == "":
		return errors.New("a client id and its secret are needed: --client-id, --client-secret")
	case (c.Username == "") != (c.Password == ""):
		return errors.New("a user name needs a password, and a password a user name")
	}
	return nil
}

// contextName are the names that a context may have.
var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// file is what the file of contexts holds.
type file struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`
}

// Contexts are those of a file that only its owner reads: it holds secrets.
type Contexts struct{ path string }

// Open returns the contexts of a file, which need not be there yet.
func Open(path string) *Contexts { return &Contexts{path} }

// read returns what the file holds, nothing when it is not there.
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

// change changes the file, or leaves it as it is when fn fails. While one program does so,
// another is refused (filelock.ErrLocked).
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
	// One that was left behind may be open to others, and would stay so.
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
			return unknown(name)
		}
		f.Current = name
		return nil
	})
}

// Remove removes a context, and with it the secrets that it holds.
func (c *Contexts) Remove(name string) error {
	return c.change(func(f *file) error {
		if _, known := f.Contexts[name]; !known {
			return unknown(name)
		}
		delete(f.Contexts, name)
		if f.Current == name {
			f.Current = ""
		}
		return nil
	})
}

func unknown(name string) error {
	return fmt.Errorf("there is no context %q: rotaloom context list shows those that there are", name)
}

// Listed is a context without its secrets.
type Listed struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	URL     string `json:"url"`
	// Username is that of the user, or empty when the client works for itself.
	Username string `json:"username,omitempty"`
	ClientID string `json:"clientId"`
}

// List returns the contexts by name.
func (c *Contexts) List() ([]Listed, error) {
	f, err := c.read()
	if err != nil {
		return nil, err
	}
	listed := []Listed{}
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		of := f.Contexts[name]
		listed = append(listed, Listed{name, name == f.Current, of.URL, of.Username, of.ClientID})
	}
	return listed, nil
}

// Get returns a context, the current one when name is empty. It returns false when no
// name was given and there is no current one.
func (c *Contexts) Get(name string) (of Context, found bool, err error) {
	f, err := c.read()
	if err != nil {
		return of, false, err
	}
	if name == "" {
		if f.Current == "" {
			return of, false, nil
		}
		name = f.Current
	}
	of, found = f.Contexts[name]
	if !found {
		return of, false, unknown(name)
	}
	return of, true, nil
}
