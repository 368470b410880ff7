package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
)

// A first start takes five seconds of processor time for the cluster and the schemas of PostgreSQL.
// Tests of other things start from a copy of what the same binaries created once.

// copyState copies the state folder of a standalone program after its first start to dir.
func copyState(t testing.TB, dir string) {
	t.Helper()
	binary := Build(t, "services/standalone/cmd/rotaloom")
	copyPrepared(t, "state", dir, []string{binary}, func(dir string) {
		StandaloneIn(t, dir, nil).Stop(t)
	})
}

// startsFromNothing reports whether the arguments of a standalone program name servers of their own,
// whose data does not fit to a copied state folder.
func startsFromNothing(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--database-") || strings.HasPrefix(arg, "--nats-")
	})
}

// copyCluster copies a PostgreSQL cluster with the migrated databases of all services to the folder
// of cfg.
func copyCluster(t testing.TB, cfg localpg.Config) {
	t.Helper()
	var binaries []string
	for _, p := range programs {
		binaries = append(binaries, Build(t, p.command))
	}
	kind := "cluster"
	if cfg.Disposable {
		kind = "disposable-cluster"
	}
	copyPrepared(t, kind, cfg.Dir, binaries, func(dir string) {
		cfg.Dir = dir
		server, err := localpg.Start(t.Context(), cfg)
		require.NoError(t, err)
		defer func() { require.NoError(t, server.Stop(context.Background())) }()
		for i, p := range programs {
			require.NoError(t, server.EnsureDatabases(t.Context(), p.name))
			_, errs, code := Run(t, binaries[i], nil, "migrate", "--database-url", server.URL(p.name))
			require.Zero(t, code, "%s: %s", p.name, errs)
		}
	})
}

// copyPrepared copies the folder that create fills to dir. The first test of any process that needs
// the folder creates it; a change of the binaries creates it again. The copy keeps owners, because
// PostgreSQL does not run as root.
func copyPrepared(t testing.TB, kind, dir string, binaries []string, create func(dir string)) {
	t.Helper()
	if os.Getenv(passwordMemory) != "" {
		kind += "-cheap-passwords"
	}
	place := filepath.Join(Root(t), "bin", "test", "prepared", kind)
	require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
	// Not in place: a removed lock would let a second process create the folder at the same time.
	lock, err := os.Create(lockPath(place))
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))

	prepared := filepath.Join(place, fingerprint(t, binaries))
	if _, err := os.Stat(prepared); os.IsNotExist(err) {
		require.NoError(t, os.RemoveAll(place)) // It may have folders of other binaries.
		require.NoError(t, os.MkdirAll(place, 0o755))
		unfinished := prepared + ".new"
		create(unfinished)
		require.NoError(t, os.Rename(unfinished, prepared))
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	out, err := exec.Command("cp", "-a", prepared+"/.", dir).CombinedOutput()
	require.NoError(t, err, string(out))
}

// lockPath returns the file that a process locks while it creates or copies the folder of a place.
func lockPath(place string) string { return place + ".lock" }

// fingerprint identifies binaries by their content, and PostgreSQL by its folder: another version
// cannot read the data.
func fingerprint(t testing.TB, binaries []string) string {
	t.Helper()
	postgres, err := localpg.Program("", "postgres")
	require.NoError(t, err)
	hash := sha256.New()
	_, err = io.WriteString(hash, postgres)
	require.NoError(t, err)
	for _, binary := range binaries {
		file, err := os.Open(binary)
		require.NoError(t, err)
		_, err = io.Copy(hash, file)
		require.NoError(t, errors.Join(err, file.Close()))
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
