// Package state is the folder in which the standalone program keeps what must
// outlive it: databases, streams, certificates and the first credentials.
package state

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

// layout is the version of the folder's layout, and of the schemas of its databases. A
// program reads the folder of its own layout only. 2: scheduling owns employment terms.
const layout = "rotaloom-state 2"

// Folder is an open state folder. One process has it at a time.
type Folder struct {
	Dir  string
	lock *filelock.Lock
}

// Open makes the folder if it is not there and takes it for this process. The
// lock ends with the process, however it ends.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	if err := checkOwned(dir); err != nil {
		return nil, err
	}
	lock, err := filelock.Try(filepath.Join(dir, "lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("the state folder %s is in use by another process", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	f := &Folder{Dir: dir, lock: lock}
	if err := f.checkLayout(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, errors.Join(os.RemoveAll(f.readyFile()))
}

// checkOwned refuses a folder that holds what is not ours: it would be mixed with state,
// and removed with it.
func checkOwned(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	var foreign string
	for _, entry := range entries {
		switch entry.Name() {
		case "VERSION":
			return nil // Its contents are looked at later.
		case "lock", "lost+found": // A start that was cut off; the root of a file system.
		default:
			foreign = entry.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("the folder %s holds files that are not Rotaloom's (%s, for one): name an empty folder, or a new one, for the state", dir, foreign)
	}
	return nil
}

// checkLayout writes the layout of a new folder, and refuses another one.
func (f *Folder) checkLayout() error {
	path := filepath.Join(f.Dir, "VERSION")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return os.WriteFile(path, []byte(layout+"\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return checkVersion(f.Dir, data)
}

func checkVersion(dir string, data []byte) error {
	if found := strings.TrimSpace(string(data)); found != layout {
		return fmt.Errorf("the state folder %s is of another version (%q, this program reads %q): use an empty folder, and move the data through the API as CHANGELOG.md says", dir, found, layout)
	}
	return nil
}

// Examine says why this program cannot use the folder, or nil. It takes and changes
// nothing, so that it can be asked beside a process that serves. It is fs.ErrNotExist
// when there is no state in the folder.
func Examine(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return checkVersion(dir, data)
}

// Path is the path of something in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Close lets other processes have the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Credentials let the first administrator log in.
type Credentials struct {
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// Credentials returns those of this folder, which are made at random the first
// time. Only the owner of the folder can read them.
func (f *Folder) Credentials() (Credentials, error) {
	path := f.Path("credentials.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return f.makeCredentials(path)
	}
	var c Credentials
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("credentials: %w", err)
	}
	return c, nil
}

func (f *Folder) makeCredentials(path string) (Credentials, error) {
	c := Credentials{Username: "admin", Password: rand.Text(), ClientID: "local", ClientSecret: rand.Text()}
	return c, writeJSON(path, c)
}

// KeyEncryption is the file with the key that encrypts signing keys in the database,
// made at random the first time. Only the owner of the folder can read it: not the
// account as which the private PostgreSQL runs, when this process is root's.
func (f *Folder) KeyEncryption() (string, error) {
	path := f.Path("key-encryption")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // It never fails.
	if err := writeDurably(path, base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
		return "", fmt.Errorf("key encryption: %w", err)
	}
	return path, nil
}

// writeDurably writes a file that appears whole, readable by its owner alone, and that is
// there after a power cut: the database will hold what only this file decrypts.
func writeDurably(path, text string) error {
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Ready is what programs need to call a server that answers.
type Ready struct {
	BaseURL     string      `json:"baseUrl"`
	CAFile      string      `json:"caFile"`
	Tenant      string      `json:"tenant"`
	Credentials Credentials `json:"credentials"`
}

// readyName is the file in which a server that answers says how to call it.
const readyName = "ready.json"

func (f *Folder) readyFile() string { return f.Path(readyName) }

// ReadReady returns what the server with the state folder dir has written. It is
// fs.ErrNotExist when none answers.
func ReadReady(dir string) (Ready, error) {
	var r Ready
	data, err := os.ReadFile(filepath.Join(dir, readyName))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("state folder: %w", err)
	}
	return r, nil
}

// WriteReady records that the server answers. The file appears whole.
func (f *Folder) WriteReady(r Ready) error { return writeJSON(f.readyFile(), r) }

// RemoveReady records that the server no longer answers.
func (f *Folder) RemoveReady() error { return os.RemoveAll(f.readyFile()) }

// Seeded reports whether the demonstration was created.
func (f *Folder) Seeded() bool {
	_, err := os.Stat(f.Path("demo"))
	return err == nil
}

// MarkSeeded remembers that the demonstration was created.
func (f *Folder) MarkSeeded() error { return os.WriteFile(f.Path("demo"), nil, 0o600) }

// writeJSON writes a file that appears whole, readable by its owner alone.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}
