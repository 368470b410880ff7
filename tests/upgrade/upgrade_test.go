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
	// waitTimeout is how long propagations may take that the load has begun.
	waitTimeout = 2 * time.Minute
)

// commands are the programs of a deployment.
var commands = []string{
	"./gateway/cmd/gateway", "./services/auth/cmd/auth", "./services/commons/cmd/commons", "./services/timekeeping/cmd/timekeeping",
	"./services/scheduling/cmd/scheduling", "./services/scheduling/cmd/propagator", "./services/platform/cmd/platform",
}

// Migrations run before the programs are replaced, so the old ones meet the new schema. No
// request may fail because of it, nothing they write may be wrong for the new ones.
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
	t.Logf("those of the tree made %d", load(t, d))
	verify(t, d)
}

// schemaBreaks are the migrations that refuse the data of older builds: programs from before
// them cannot serve on the schema of the tree.
var schemaBreaks = []string{"services/scheduling/migrations/0033_terms_and_memberships.sql"}

// candidates is how many commits are looked at for one that builds.
const candidates = 10

// older is the commit whose programs are tried, with their folder: ROTALOOM_UPGRADE_FROM, or
// the newest one that builds of those before the last that added a migration. Where that is
// a break of the schema, it is the commit with the break itself.
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
		binaries, err := build(t, commit)
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

// build builds the programs of a commit, and returns their folder.
func build(t *testing.T, commit string) (binaries string, err error) {
	t.Helper()
	source := t.TempDir()
	binaries = t.TempDir()
	archive := filepath.Join(t.TempDir(), "source.tar")
	git(t, "archive", "--output", archive, commit)
	out, err := exec.Command("tar", "-xf", archive, "-C", source).CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-o", binaries + "/"}, commands...)...)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %.300s", err, out)
	}
	return binaries, nil
}

// load has callers hire people, give them rotations and read their schedules, and returns
// how many changes were applied. No request fails.
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

// round changes the rotation of some people twice, and reads what they then have.
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

// verify has the programs that serve compare what is stored with the rules.
func verify(t *testing.T, d *launch.Deployment) {
	t.Helper()
	launch.Await(t, waitTimeout, "all propagations have finished, and nothing differs", func() bool {
		out, errs, code := d.Verify(t)
		require.NotContains(t, errs, "not what the rules say")
		return code == 0 && strings.Contains(out, "; 0 propagations have not finished")
	})
}
