// Package state manages the folder with the persistent data of the standalone program: databases, streams,
// certificates and the first credentials.
package state

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/filelock"
)

// layout is the version of the folder's layout and of the schemas of its databases. A program only uses folders
// of its own layout. 2: scheduling owns employment terms.
const layout = "rotaloom-state 2"

// Folder is an open state folder. One process can open it at a time.
type Folder struct {
	Dir  string
	lock *filelock.Lock
}

// Open creates the folder if necessary, and locks it. The lock ends with the process, even after a crash.
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

// checkOwned refuses a folder with foreign files, which would be mixed with the state and removed together with
// it.
func checkOwned(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	var foreign string
	for _, entry := range entries {
		switch entry.Name() {
		case "VERSION":
			return nil // checkLayout checks the contents.
		case "lock", "lost+found": // a start that was interrupted; the root of a file system
		default:
			foreign = entry.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("the folder %s contains files that are not Rotaloom's (for example %s): use an empty or new folder for the state", dir, foreign)
	}
	return nil
}

// checkLayout writes the layout of a new folder, and refuses a different one.
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
	found := strings.TrimSpace(string(data))
	if isNewer(found) {
		return fmt.Errorf("a newer program wrote the state folder %s (%q, this program reads %q). Run that program, or a newer one", dir, found, layout)
	}
	if found != layout {
		return fmt.Errorf("the state folder %s has another version (%q, this program reads %q): use an empty folder, and move the data through the API as described in CHANGELOG.md", dir, found, layout)
	}
	return nil
}

// isNewer reports whether a layout is one that a newer program writes.
func isNewer(found string) bool {
	name, number, _ := strings.Cut(layout, " ")
	rest, ok := strings.CutPrefix(found, name+" ")
	theirs, err := strconv.Atoi(rest)
	ours, _ := strconv.Atoi(number) // It is a constant.
	return ok && err == nil && theirs > ours
}

// Examine returns the reason why this program cannot use the folder, or nil. It neither locks nor changes
// anything, so it works while a process serves. It returns fs.ErrNotExist if the folder contains no state.
func Examine(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return checkVersion(dir, data)
}

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Close unlocks the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Credentials are the log-in data of the first administrator.
type Credentials struct {
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// Credentials returns the folder's credentials, which are generated on first use. Only the owner of the folder
// can read them.
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

// demoName is the file with the password of the demonstration's users.
const demoName = "demo.json"

// DemoPath returns the path of the file with the password of the demonstration's users.
func DemoPath(dir string) string { return filepath.Join(dir, demoName) }

// DemoPassword returns the password of the demonstration's users, which is generated on first use. Only the owner of
// the folder dir can read the file. It needs no lock on the folder.
func DemoPassword(dir string) (string, error) {
	var demo struct {
		Password string `json:"password"`
	}
	data, err := os.ReadFile(DemoPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		demo.Password = rand.Text()
		return demo.Password, writeJSON(DemoPath(dir), demo)
	}
	if err == nil {
		err = json.Unmarshal(data, &demo)
	}
	if err != nil {
		return "", fmt.Errorf("password of the demonstration: %w", err)
	}
	return demo.Password, nil
}

// KeyEncryption returns the file with the key that encrypts signing keys in the database. The key is generated
// on first use. Only the owner of the folder can read the file; the account of the private PostgreSQL cannot,
// if this process runs as root.
func (f *Folder) KeyEncryption() (string, error) {
	path := f.Path("key-encryption")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // rand.Read never fails.
	if err := writeDurably(path, base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
		return "", fmt.Errorf("key encryption: %w", err)
	}
	return path, nil
}

// writeDurably writes a file atomically, readable by its owner only, and synchronizes it to disk: the database
// will contain data that only this file can decrypt.
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

// Ready contains what programs need to call a running server.
type Ready struct {
	BaseURL     string      `json:"baseUrl"`
	CAFile      string      `json:"caFile"`
	Tenant      string      `json:"tenant"`
	Credentials Credentials `json:"credentials"`
}

// readyName is the file with the Ready of a running server.
const readyName = "ready.json"

func (f *Folder) readyFile() string { return f.Path(readyName) }

// ReadReady returns the Ready of the server with the state folder dir. It returns fs.ErrNotExist if no server
// runs.
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

// WriteReady records that the server responds. It writes the file atomically.
func (f *Folder) WriteReady(r Ready) error { return writeJSON(f.readyFile(), r) }

// RemoveReady records that the server no longer responds.
func (f *Folder) RemoveReady() error { return os.RemoveAll(f.readyFile()) }

// Seeded reports whether the demonstration was created.
func (f *Folder) Seeded() bool {
	_, err := os.Stat(f.Path("demo"))
	return err == nil
}

// MarkSeeded records that the demonstration was created.
func (f *Folder) MarkSeeded() error { return os.WriteFile(f.Path("demo"), nil, 0o600) }

// writeJSON writes a file atomically, readable by its owner only.
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
