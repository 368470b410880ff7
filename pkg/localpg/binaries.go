//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// oldest is the first major version that supports our SQL.
const oldest = pg.MinServerMajor

// NotFound is the error of a machine without a usable PostgreSQL server.
type NotFound struct {
	// Named means that only the folder in Config.BinDir was searched.
	Named bool
	// Tried holds, for each searched folder, the reason why it is not usable.
	Tried []string
}

func (e *NotFound) Error() string {
	if e.Named {
		return fmt.Sprintf("the configured folder has no usable programs of PostgreSQL (version %d or newer): %s. "+
			"Set the folder of initdb and postgres, or leave it empty to search for them", oldest, strings.Join(e.Tried, "; "))
	}
	tried := "no folder with its programs"
	if len(e.Tried) > 0 {
		tried = strings.Join(e.Tried, "; ")
	}
	return fmt.Sprintf("no PostgreSQL server (version %d or newer) was found on this machine: %s. "+
		"Install one (Debian, Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; "+
		"macOS: brew install postgresql), set the folder of initdb and postgres, or use a running server by its URL",
		oldest, tried)
}

// OtherVersion is the error of a machine whose PostgreSQL servers cannot run the existing data,
// because another major version created it.
type OtherVersion struct {
	// Data is the folder of the data, and Major the version that created it.
	Data  string
	Major int
	// Found lists the installed versions.
	Found []int
}

func (e *OtherVersion) Error() string {
	found := make([]string, len(e.Found))
	for i, major := range e.Found {
		found[i] = strconv.Itoa(major)
	}
	install := ""
	if e.Major >= oldest {
		install = fmt.Sprintf("install PostgreSQL %d (Debian, Ubuntu: apt-get install postgresql-%d), ", e.Major, e.Major)
	}
	return fmt.Sprintf("the data in %s was created by PostgreSQL %d, and this machine has version %s, which cannot run it: "+
		"%supgrade the data to the installed version with pg_upgrade, or use another state folder",
		e.Data, e.Major, strings.Join(found, " and "), install)
}

// binaries are the programs of one installation.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// find returns the first installation that works: in the given folder only, or else in PATH and the
// usual places, newest first. Only the major version that created a cluster can run it, so find
// requires that version unless major is 0.
func find(ctx context.Context, dir, data string, major int, as owner) (binaries, error) {
	candidates := []string{dir}
	if dir == "" {
		candidates = initdbDirs()
	}
	missing, other := NotFound{Named: dir != ""}, OtherVersion{Data: data, Major: major}
	for _, candidate := range candidates {
		found, err := inspect(ctx, candidate, as)
		if err == nil && major != 0 && found.major != major {
			if !slices.Contains(other.Found, found.major) {
				other.Found = append(other.Found, found.major)
			}
			continue
		}
		if err == nil {
			return found, nil
		}
		missing.Tried = append(missing.Tried, candidate+": "+err.Error())
	}
	if len(other.Found) > 0 {
		return binaries{}, &other
	}
	return binaries{}, &missing
}

// initdbDirs returns the folders that contain an initdb, with links resolved: packages put a single
// program on PATH as a link to its real folder.
func initdbDirs() []string {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // packages of postgresql.org for Fedora and RHEL
		"/usr/libexec/postgresql*",          // Alpine
		"/opt/homebrew/opt/postgresql*/bin", // macOS on ARM
		"/usr/local/opt/postgresql*/bin",    // macOS on Intel
		"/usr/local/pgsql/bin",              // built from source
	} {
		found, _ := filepath.Glob(pattern) // It fails only for a malformed pattern.
		slices.SortFunc(found, func(a, b string) int { return firstNumber(b) - firstNumber(a) })
		dirs = append(dirs, found...)
	}
	var real []string
	for _, dir := range dirs {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, "initdb"))
		if err == nil && !slices.Contains(real, filepath.Dir(path)) {
			real = append(real, filepath.Dir(path))
		}
	}
	return real
}

var digits = regexp.MustCompile(`\d+`)

// firstNumber returns the first number in a text, or 0.
func firstNumber(text string) int {
	n, _ := strconv.Atoi(digits.FindString(text))
	return n
}

// inspect checks that a folder has the programs, in one version, together with the files for
// creating a cluster.
func inspect(ctx context.Context, dir string, as owner) (binaries, error) {
	b := binaries{dir: dir}
	versions := make([]string, 2)
	for i, program := range []string{"initdb", "postgres"} {
		out, err := as.command(ctx, "/", b.path(program), "-V").Output()
		if err != nil {
			return b, fmt.Errorf("%s does not run (%w)", program, err)
		}
		_, versions[i], _ = strings.Cut(strings.TrimSpace(string(out)), ") ")
	}
	if versions[0] != versions[1] {
		return b, fmt.Errorf("initdb is %q but postgres is %q", versions[0], versions[1])
	}
	if b.major = firstNumber(versions[0]); b.major < oldest {
		return b, fmt.Errorf("is version %d", b.major)
	}
	// initdb -s prints its settings and changes nothing.
	out, err := as.command(ctx, "/", b.path("initdb"), "-s", "-D", "/nonexistent").CombinedOutput()
	if err != nil {
		return b, fmt.Errorf("initdb does not run (%w: %s)", err, firstLine(out))
	}
	return b, checkShare(string(out))
}

func checkShare(settings string) error {
	for line := range strings.Lines(settings) {
		share, ok := strings.CutPrefix(strings.TrimSpace(line), "share_path=")
		if !ok {
			continue
		}
		if _, err := os.Stat(filepath.Join(share, "postgres.bki")); err != nil {
			return fmt.Errorf("its share folder is incomplete (%w)", err)
		}
		return nil
	}
	return errors.New("initdb does not print its share folder")
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
