//go:build upgrade

package upgrade

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// loadFor is how long each version is under load.
	loadFor = 20 * time.Second
	callers = 4
	// waitTimeout bounds how long the propagations of the load may take.
	waitTimeout = 2 * time.Minute
)

// Migrations run before the programs are replaced, so the old programs meet the new schema. No
// request may fail because of it, and the new programs must read everything that the old ones
// write.
func TestOldProgramsServeOnTheNewSchema(t *testing.T) {
	from, binaries := older(t)
	added := git(t, "diff", "--name-only", "--diff-filter=A", from, "HEAD", "--", "*/migrations/*.sql")
	t.Logf("the programs of %s do not know %q", from, strings.ReplaceAll(added, "\n", ", "))
	d := launch.DeployedOnNewSchema(t, binaries)
	t.Logf("they made %d changes", load(t, d))
	verify(t, d)
	d.UseNewPrograms()
	for name, process := range d.Services {
		process.Stop(t)
		d.Start(name)
	}
	d.AwaitServices(t)
	verify(t, d)
	t.Logf("the programs of the tree applied %d changes", load(t, d))
	verify(t, d)
}

// schemaBreaks lists the migrations that refuse the data of older builds. Programs from before
// these migrations cannot serve on the schema of the tree.
var schemaBreaks = []string{"services/scheduling/migrations/0033_terms_and_memberships.sql"}

// candidates bounds how many commits are tried until one builds.
const candidates = 10

// older returns the commit whose programs are tried, with their folder. It is
// ROTALOOM_UPGRADE_FROM, or the newest commit before the last added migration that builds. If that
// migration breaks the schema, it is the commit that added the migration.
func older(t *testing.T) (commit, binaries string) {
	t.Helper()
	commits := []string{os.Getenv("ROTALOOM_UPGRADE_FROM")}
	if commits[0] == "" {
		last := git(t, "log", "-1", "--format=%H", "--diff-filter=A", "--", "*/migrations/*.sql")
		require.NotEmpty(t, last, "this needs the history of the repository")
		commits = strings.Fields(git(t, "rev-list", fmt.Sprintf("--max-count=%d", candidates), last+"^"))
		breaks := append([]string{"diff", "--name-only", "--diff-filter=A", last + "^", last, "--"}, schemaBreaks...)
		if git(t, breaks...) != "" {
			commits = []string{last}
		}
	}
	for _, commit := range commits {
		binaries, err := buildCommit(t, commit)
		if err == nil {
			return commit, binaries
		}
		t.Logf("%s does not build: %v", commit, err)
	}
	require.FailNow(t, "none of the commits builds")
	return "", ""
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = launch.Root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// buildCommit builds the programs of a commit, and returns their folder.
func buildCommit(t *testing.T, commit string) (binaries string, err error) {
	t.Helper()
	source := t.TempDir()
	binaries = t.TempDir()
	archive := filepath.Join(t.TempDir(), "source.tar")
	git(t, "archive", "--output", archive, commit)
	out, err := exec.Command("tar", "-xf", archive, "-C", source).CombinedOutput()
	require.NoError(t, err, string(out))
	args := []string{"build", "-trimpath", "-o", binaries + "/"}
	for _, command := range launch.Commands() {
		args = append(args, "./"+command)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %.300s", err, out)
	}
	return binaries, nil
}

// load lets callers hire people, give them rotations and read their schedules, and returns how many
// changes were applied. No request may fail.
func load(t *testing.T, d *launch.Deployment) int64 {
	t.Helper()
	api := scenario.API{Target: launch.Login(t, d.Client, d.Ready)}
	var changes atomic.Int64
	end := time.Now().Add(loadFor)
	group, ctx := errgroup.WithContext(t.Context())
	for range callers {
		group.Go(func() error {
			for time.Now().Before(end) {
				if err := round(ctx, api); err != nil {
					return err
				}
				changes.Add(2)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Positive(t, changes.Load())
	return changes.Load()
}

// round changes the rotation of some people twice, and reads their schedules after each change.
func round(ctx context.Context, api scenario.API) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	crew, err := scenario.NewCrew(ctx, api, 20, "2026-01-01")
	if err != nil {
		return err
	}
	early := map[string]scenario.Object{"D": scenario.Shift("Early", "06:00", "14:00", false)}
	assigned, err := crew.Assign(ctx, api, scenario.Pattern("DD-", early), "2026-03-02", "", 0)
	if err != nil {
		return err
	}
	if _, err := scenario.Finish(ctx, api, assigned.Propagation); err != nil {
		return err
	}
	late := map[string]scenario.Object{"L": scenario.Shift("Late", "14:00", "22:00", false)}
	if assigned, err = crew.Recreate(ctx, api, assigned.ID, scenario.Pattern("L-", late), "2026-03-02"); err != nil {
		return err
	}
	if _, err := scenario.Finish(ctx, api, assigned.Propagation); err != nil {
		return err
	}
	shifts, err := scenario.ReadShifts(ctx, api, crew.Persons, "2026-03-02", "2026-03-05")
	if err == nil && len(shifts) != 2*len(crew.Persons) {
		err = fmt.Errorf("%d people have %d shifts on four days instead of two each", len(crew.Persons), len(shifts))
	}
	return err
}

// verify runs the verify command of the serving programs, which compares the stored shifts with the
// rules.
func verify(t *testing.T, d *launch.Deployment) {
	t.Helper()
	launch.Await(t, waitTimeout, "all propagations have finished, and nothing differs", func() bool {
		out, errs, code := d.Verify(t)
		require.NotContains(t, errs, "not what the rules say")
		return code == 0 && strings.Contains(out, "; 0 propagations have not finished")
	})
}
