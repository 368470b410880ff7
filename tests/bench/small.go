package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// smallClients is how many ask at once, each over a connection of its own.
	smallClients = 16
	// smallRequests is how many requests a round takes.
	smallRequests = 4_800
)

// small is one object that is read.
type small struct {
	name, path string
	atMost     float64
}

// smallReads measures the processor time that the standalone process and its
// database take for a GET of one object, against that of a bare handler with one
// prepared statement that selects the same bytes by a key.
func smallReads(h *host, o Options) ([]figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	objects, err := smallObjects(h.ctx, api)
	if err != nil {
		return nil, err
	}
	t := target{api: api, tlsDir: filepath.Dir(server.CAFile), postgres: launch.PrivatePostgres(server.StateDir)}
	base, baseline, err := startSmallYardstick(h, t, objects, "yardstick")
	if err != nil {
		return nil, err
	}
	postmaster, err := firstNumber(filepath.Join(server.StateDir, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		return nil, err
	}
	used := func(pid int) func() (time.Duration, error) {
		return func() (time.Duration, error) { return processorTimes(pid, postmaster) }
	}
	client := crowdClient(api.Client)
	var figures []figure
	for i, object := range objects {
		if !o.wants(object.name) {
			continue
		}
		product := getter{client: client, url: api.BaseURL + object.path, token: api.Token, used: used(server.Process.Process.Pid)}
		bare := getter{client: client, url: fmt.Sprintf("%s/%d", base, i), used: used(baseline)}
		samples, err := interleave(h.ctx, o.Rounds, product.round, bare.round)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{
			name: object.name, unit: "µs", measured: samples[0], baseline: samples[1], atMost: object.atMost,
			note: "processor time of a GET, PostgreSQL included; 16 clients",
		})
	}
	return figures, nil
}

// smallObjects makes what is read.
func smallObjects(ctx context.Context, api scenario.API) ([]small, error) {
	crew, err := hire(ctx, api, 20, "")
	if err != nil {
		return nil, err
	}
	var template struct{ ID int64 }
	shift := scenario.Shift(scenario.Unique("bench"), "08:00", "16:30", false)
	shift["name"] = shift["label"]
	if _, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/shift_templates", shift, &template); err != nil {
		return nil, err
	}
	person := crew.Persons[0]
	return []small{
		{getTemplate, fmt.Sprintf("/v1/scheduling/shift_templates/%d", template.ID), 1.8},
		{getPerson, fmt.Sprintf("/v1/commons/persons/%d", person), 3},
		{getWeek, fmt.Sprintf("/v1/scheduling/schedule?employee_id=%d&start_date=2026-03-02&end_date=2026-03-08", person), 3},
		// Keys change once in weeks, and limits not at all while a process runs: their
		// responses come from memory.
		{getKeys, "/api/authentication/.well-known/jwks.json", 1},
		{getLimits, "/v1/platform/limits", 1.8},
	}, nil
}

// startSmallYardstick stores the responses of the product, by their positions, in a
// database, and starts the process that reads them. It returns its URL and its process id.
func startSmallYardstick(h *host, t target, objects []small, database string) (string, int, error) {
	if err := execute(h.ctx, t.postgres("postgres"), "CREATE DATABASE "+database); err != nil {
		return "", 0, err
	}
	conn, err := pgx.Connect(h.ctx, t.postgres(database))
	if err != nil {
		return "", 0, err
	}
	defer conn.Close(h.ctx)
	if _, err := conn.Exec(h.ctx, "CREATE TABLE response (id bigint PRIMARY KEY, body bytea NOT NULL)"); err != nil {
		return "", 0, err
	}
	for i, object := range objects {
		_, body, err := t.api.Bytes(h.ctx, http.MethodGet, object.path, nil)
		if err != nil {
			return "", 0, err
		}
		if _, err := conn.Exec(h.ctx, "INSERT INTO response VALUES ($1, $2)", i, body); err != nil {
			return "", 0, err
		}
	}
	url, process, err := runYardstick(h, t, database)
	if err != nil {
		return "", 0, err
	}
	return url, process.Process.Pid, nil
}

// crowdClient is a client that keeps a connection for each of the clients.
func crowdClient(one *http.Client) *http.Client {
	transport := one.Transport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = smallClients, smallClients
	return &http.Client{Transport: transport}
}

// getter reads one object again and again.
type getter struct {
	client *http.Client
	url    string
	token  string
	// used returns the processor time that was taken so far.
	used func() (time.Duration, error)
}

// round returns the processor time of a request in microseconds.
func (g *getter) round(ctx context.Context, _ int) (float64, error) {
	before, err := g.used()
	if err != nil {
		return 0, err
	}
	if err := g.crowd(ctx); err != nil {
		return 0, err
	}
	after, err := g.used()
	return float64((after - before).Microseconds()) / smallRequests, err
}

// rate returns how many requests are served in a second.
func (g *getter) rate(ctx context.Context, _ int) (float64, error) {
	began := time.Now()
	err := g.crowd(ctx)
	return smallRequests / time.Since(began).Seconds(), err
}

// crowd has all clients ask at once.
func (g *getter) crowd(ctx context.Context) error {
	crowd, ctx := errgroup.WithContext(ctx)
	for range smallClients {
		crowd.Go(func() error {
			for range smallRequests / smallClients {
				if err := g.get(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return crowd.Wait()
}

func (g *getter) get(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url, nil)
	if err != nil {
		return err
	}
	if g.token != "" {
		request.Header.Set("Authorization", "Bearer "+g.token)
	}
	response, err := g.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s returned %d: %.200s", g.url, response.StatusCode, body)
	}
	return err
}

// tick is the unit in which Linux counts processor time.
const tick = 10 * time.Millisecond

// processorTimes is the processor time that a process has taken, together with a
// database server and everything that it has started.
func processorTimes(pid, postmaster int) (time.Duration, error) {
	own, _, _, err := processorTime(pid)
	if err != nil {
		return 0, err
	}
	server, ended, _, err := processorTime(postmaster)
	if err != nil {
		return 0, err
	}
	sum := own + server + ended
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		id, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			return 0, err
		}
		// Others come and go.
		if used, _, parent, err := processorTime(id); err == nil && parent == postmaster {
			sum += used
		}
	}
	return sum, nil
}

// processorTime returns the processor time of a process, that of its children
// that have ended, and its parent.
func processorTime(pid int) (own, ended time.Duration, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	// The name of the program, in brackets, may hold blanks.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks [4]int64
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return 0, 0, 0, err
		}
	}
	parent, err = strconv.Atoi(fields[1])
	return time.Duration(ticks[0]+ticks[1]) * tick, time.Duration(ticks[2]+ticks[3]) * tick, parent, err
}

// firstNumber is the number in the first line of a file.
func firstNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}
