package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	passwordGrants = "password-grants"
	refreshGrants  = "refresh-grants"
)

// The default password hashing parameters of the product, which the baseline uses too.
const (
	hashTime, hashMemory, hashThreads, hashBytes = 2, 19 << 10, 1, 32
	// grantSlice is the duration of one round of grants.
	grantSlice = 3 * time.Second
)

// grants measures log-ins on the standalone process, and refreshes inside the service.
func grants(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	var figures []harness.Figure
	if o.Wants(passwordGrants) {
		f, err := passwordFigure(h, o)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	if o.Wants(refreshGrants) {
		f, err := refreshFigure(h, o)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// refreshFigure compares refreshes with plain updates on a server that flushes its commits to disk,
// like the product's. The servers of tests do not.
func refreshFigure(h *harness.Host, o harness.Options) (f harness.Figure, err error) {
	server, err := localpg.Start(h.Context(), localpg.Config{Dir: filepath.Join(h.TempDir(), "durable"), MaxConnections: 300})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(h.Context()))) }()
	m, err := harness.GoBench(h, o, "services/auth", ".", "^BenchmarkRefreshGrant$", "4x", pgtest.URLVariable+"="+server.AdminURL("postgres"))
	const name = "BenchmarkRefreshGrant/"
	return harness.Figure{
		Name: refreshGrants, Unit: "grants/s", AtLeast: 0.5, Measured: m[name+"refreshes/s"], Baseline: m[name+"updates/s"],
		Note: "refreshes, against transactions that update one row, as many callers at a time",
	}, err
}

// passwordFigure compares the processor time of log-ins over HTTPS, including PostgreSQL, with bare
// verifications, with about as many callers as processors. The client shares the processors; its
// time does not count.
func passwordFigure(h *harness.Host, o harness.Options) (harness.Figure, error) {
	f := harness.Figure{
		Name: passwordGrants, Unit: "grants/s", AtLeast: 0.85,
		Note: "log-ins over HTTPS per second of processor time, PostgreSQL included, against bare argon2id with the same parameters",
	}
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	postmaster, err := harness.FirstNumber(filepath.Join(server.StateDir, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		return f, err
	}
	form := url.Values{
		"grant_type": {"password"}, "auth_chain": {"OAuthLdapService"},
		"username": {server.Credentials.Username}, "password": {server.Credentials.Password},
		"client_id": {server.Credentials.ClientID}, "client_secret": {server.Credentials.ClientSecret},
	}.Encode()
	processors := runtime.GOMAXPROCS(0)
	logIns := slice{
		// One more caller than processors, so that no processor waits for requests.
		callers: processors + 1,
		do: func(ctx context.Context) error {
			return logIn(ctx, server.Client, server.BaseURL+"/api/authentication/access_token", form)
		},
		used: func() (time.Duration, error) { return harness.ProcessorTimes(server.Process.Process.Pid, postmaster) },
	}
	hashes := slice{
		callers: processors,
		do: func(context.Context) error {
			argon2.IDKey([]byte("password"), make([]byte, 16), hashTime, hashMemory, hashThreads, hashBytes)
			return nil
		},
		used: func() (time.Duration, error) { return harness.ProcessorTime(os.Getpid()) },
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, logIns.perProcessorSecond, hashes.perProcessorSecond)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// slice is work that callers do for a while.
type slice struct {
	callers int
	do      func(context.Context) error
	// used returns the processor time that the work has used so far.
	used func() (time.Duration, error)
}

// perProcessorSecond measures how often the work is done per second of processor time.
func (s slice) perProcessorSecond(ctx context.Context, _ int) (float64, error) {
	before, err := s.used()
	if err != nil {
		return 0, err
	}
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range s.callers {
		group.Go(func() error {
			for time.Since(began) < grantSlice {
				if err := s.do(ctx); err != nil {
					return err
				}
				done.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	after, err := s.used()
	return float64(done.Load()) / (after - before).Seconds(), err
}

func logIn(ctx context.Context, client *http.Client, address, form string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("a log-in returns %s", resp.Status)
	}
	// A connection serves the next request only once its response is read.
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
