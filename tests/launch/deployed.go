package launch

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localnats"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgbouncer"
)

// program is a service's own program.
type program struct{ name, command string }

// programs are the services in the order of their calls.
var programs = []program{
	{"auth", "services/auth/cmd/auth"},
	{"commons", "services/commons/cmd/commons"},
	{"scheduling", "services/scheduling/cmd/scheduling"},
	{"timekeeping", "services/timekeeping/cmd/timekeeping"},
	{"recruiting", "services/recruiting/cmd/recruiting"},
	{"platform", "services/platform/cmd/platform"},
}

// Deployment is the product as separate processes that communicate over mTLS, with its own
// PostgreSQL server and NATS server.
type Deployment struct {
	Ready
	Client *http.Client
	// Services are the processes by name, including "propagator" and "gateway".
	Services map[string]*Process
	Postgres *localpg.Server
	// pooler is the pooler between the programs and Postgres, or nil.
	pooler *pgbouncer.Pooler
	// standby is the standby of Postgres, or nil.
	standby *localpg.Server
	// DatabaseURL is the URL of a service's database.
	DatabaseURL func(service string) string

	starts map[string]func() *Process
	// args are the arguments of each service, except the address of its listener.
	args map[string][]string
	// certs holds the flags of each program for its certificate and its permitted clients.
	certs   map[string][]string
	env     []string
	pg      localpg.Config
	natsDir string
	// natsUsers is the file with the permissions of each service at the broker.
	natsUsers string
	nats      *localnats.Server
	natsPort  int
	// cluster holds the servers of the broker's cluster, if it has one.
	cluster []*broker
	// binaries is the folder of the programs, if they are not built from the tree.
	binaries string
	// pairs are the processes that exist twice, and backends their backends.
	pairs    []string
	backends map[string]*backend
}

// Deployed starts every program in a separate process. It waits until all of them respond and the
// first administrator can log in. Settings, "ROTALOOM_NAME=value", apply to all programs.
func Deployed(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{disposable: true}, settings)
}

// DeployedBehindPooler is Deployed with a PgBouncer in transaction mode in front of the database
// server.
func DeployedBehindPooler(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{disposable: true, pooled: true}, settings)
}

// DeployedDurably is Deployed with a database server that keeps its log, like servers with backups.
func DeployedDurably(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{}, settings)
}

// how holds the differences between deployments.
type how struct {
	// disposable uses a database server that loses its data in a crash.
	disposable bool
	// pooled puts a PgBouncer in transaction mode in front of it.
	pooled bool
	// standby adds a second database server that follows the first.
	standby bool
	// cluster makes the broker a cluster of servers.
	cluster bool
	// binaries is the folder of older programs, which run on a newer schema.
	binaries string
	// pairs starts two processes of each program.
	pairs bool
}

func newDeployed(t testing.TB, how how, settings []string) *Deployment {
	t.Helper()
	d := &Deployment{
		Services: map[string]*Process{}, starts: map[string]func() *Process{}, args: map[string][]string{},
		natsDir: t.TempDir(), natsPort: freePort(t), binaries: how.binaries, backends: map[string]*backend{},
	}
	d.pg = localpg.Config{Dir: filepath.Join(t.TempDir(), "pg"), Disposable: how.disposable}
	if how.pooled || how.standby {
		d.pg.Dir = sharedDir(t)
	}
	if how.binaries == "" && !how.pooled { // One kind starts from nothing, as new installations do.
		copyCluster(t, d.pg)
	}
	d.createDatabases(t)
	if how.standby {
		d.startStandby(t)
		both := []*localpg.Server{d.Postgres, d.standby}
		d.DatabaseURL = func(service string) string { return postgresURL(t, service, both...) }
	}
	if how.pooled {
		d.pooler = pgbouncer.Start(t, obs.Secret(d.Postgres.URL("postgres")))
	}
	if how.binaries != "" {
		d.migrate(t)
	}
	d.createNATSUsers(t)
	if how.cluster {
		d.startCluster(t)
	} else {
		d.StartNATS(t)
		t.Cleanup(func() { d.StopNATS() })
	}

	d.certificates(t)
	d.Credentials.Username, d.Credentials.Password = "admin", "a password for tests only"
	d.Credentials.ClientID, d.Credentials.ClientSecret = "tests", "a secret for tests only"

	targets, balancers := map[string]string{}, map[string]*balancer{}
	for _, p := range programs {
		targets[p.name] = fmt.Sprintf("127.0.0.1:%d", freePort(t))
		if how.pairs {
			balancers[p.name] = startBalancer(t)
			targets[p.name] = balancers[p.name].address()
		}
	}
	env := append(d.environment(targets), settings...)
	for _, p := range programs {
		args := append(slices.Clone(d.certs[p.name]), d.databaseArgs(p.name)...)
		args = append(args, "--nats-url", d.NATSURLFor(p.name))
		if p.name == "auth" {
			args = append(args, "--key-encryption-file", keyEncryption(t))
		}
		if p.name == "scheduling" {
			args = append(args, "--no-propagate")
		}
		d.args[p.name] = args
		if how.pairs {
			d.startPair(t, balancers[p.name], p.name, p.command, env, true, args...)
		} else {
			d.program(t, p.name, p.command, env, append(slices.Clone(args), "--listen", targets[p.name])...)
		}
	}
	d.bootstrap(t, env)
	propagator := append(d.databaseArgs("scheduling"), "--nats-url", d.NATSURLFor("propagator"))
	d.env = env
	if how.pairs {
		d.startPair(t, startBalancer(t), "propagator", "services/scheduling/cmd/propagator", env, false, propagator...)
		d.awaitPairs(t) // An edge rejects its first calls if it is still connecting to a service.
		edge := startBalancer(t)
		d.startPair(t, edge, "gateway", "gateway/cmd/gateway", env, true, d.certs["gateway"]...)
		d.BaseURL = "https://" + edge.address()
		d.awaitPairs(t)
	} else {
		d.program(t, "propagator", "services/scheduling/cmd/propagator", env, propagator...)
		d.BaseURL = d.Edge(t, "gateway")
	}
	d.awaitEdge(t)
	return d
}

// bootstrap creates the first administrator and client, as a job of the chart does.
func (d *Deployment) bootstrap(t testing.TB, env []string) {
	t.Helper()
	_, errs, code := Run(t, Build(t, "services/auth/cmd/auth"), env, append([]string{"bootstrap"}, d.databaseArgs("auth")...)...)
	require.Zero(t, code, errs)
}

// databaseArgs returns the arguments with the database of a service.
func (d *Deployment) databaseArgs(service string) []string {
	direct := d.DatabaseURL(service)
	if d.pooler == nil {
		return []string{"--database-url", direct}
	}
	return []string{"--database-url", d.pooler.URL(obs.Secret(direct)).Reveal(), "--database-direct-url", direct}
}

// keyEncryption creates the key that encrypts signing keys, as an operator does.
func keyEncryption(t testing.TB) string {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // It never fails.
	file := filepath.Join(t.TempDir(), "key-encryption")
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600))
	return file
}

// program starts a program, and stores how to start it again.
func (d *Deployment) program(t testing.TB, name, command string, env []string, args ...string) {
	t.Helper()
	d.starts[name] = func() *Process { return Start(t, d.binary(t, command), env, args...) }
	d.Start(name)
}

// Start starts a stopped program again, in the same way as before.
func (d *Deployment) Start(name string) { d.Services[name] = d.starts[name]() }

// environment returns the settings that programs share.
func (d *Deployment) environment(targets map[string]string) []string {
	env := []string{
		"ROTALOOM_ADMIN_ADDRESS=",
		"ROTALOOM_BOOTSTRAP_USERNAME=" + d.Credentials.Username,
		"ROTALOOM_BOOTSTRAP_PASSWORD=" + d.Credentials.Password,
		"ROTALOOM_BOOTSTRAP_CLIENT_ID=" + d.Credentials.ClientID,
		"ROTALOOM_BOOTSTRAP_CLIENT_SECRET=" + d.Credentials.ClientSecret,
	}
	for name, target := range targets {
		env = append(env, fmt.Sprintf("ROTALOOM_%s_TARGET=%s", strings.ToUpper(name), target))
	}
	return env
}

// certificates creates the certificates, as operators of a test installation do.
func (d *Deployment) certificates(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	out, errs, code := Run(t, Build(t, "services/standalone/cmd/rotaloom"), nil, "certs", dir)
	require.Zero(t, code, errs)
	d.CAFile, d.certs = filepath.Join(dir, "ca.pem"), map[string][]string{}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], "--") {
			d.certs[fields[0]] = fields[1:]
		}
	}
}

// sharedDir returns a folder that users of other servers can reach: only the user of the tests may
// enter its temporary folders.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rotaloom-test-pg-*")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func (d *Deployment) createDatabases(t testing.TB) {
	t.Helper()
	d.StartPostgres(t)
	t.Cleanup(func() { d.StopPostgres(t) })
	for _, p := range programs {
		require.NoError(t, d.Postgres.EnsureDatabases(t.Context(), p.name))
	}
	d.DatabaseURL = d.Postgres.URL
}

// StartPostgres starts the database server, with its earlier data.
func (d *Deployment) StartPostgres(t testing.TB) {
	t.Helper()
	server, err := localpg.Start(t.Context(), d.pg)
	require.NoError(t, err)
	d.Postgres = server
}

// PostgresData returns the data folder of the database server.
func (d *Deployment) PostgresData() string { return filepath.Join(d.pg.Dir, "data") }

// StopPostgres stops the database server in the orderly way that ends all sessions at once.
func (d *Deployment) StopPostgres(t testing.TB) {
	t.Helper()
	if d.Postgres == nil {
		return
	}
	require.NoError(t, d.Postgres.Stop(context.Background()))
	d.Postgres = nil
}

// NATSURL returns the URL of the broker for an operator, who has all permissions.
func (d *Deployment) NATSURL() string { return d.NATSURLFor("operator") }

// NATSURLFor returns the URL of the broker for a service, with only the permissions that the
// service needs.
func (d *Deployment) NATSURLFor(service string) string {
	ports := []int{d.natsPort}
	if d.cluster != nil {
		ports = nil
		for _, b := range d.cluster {
			ports = append(ports, b.port)
		}
	}
	urls := make([]string, len(ports))
	for i, port := range ports {
		urls[i] = fmt.Sprintf("nats://%s:%s@127.0.0.1:%d", service, natsPassword, port)
	}
	return strings.Join(urls, ",")
}

const natsPassword = "a-broker-for-tests"

// createNATSUsers creates the users of the broker, as operators do.
func (d *Deployment) createNATSUsers(t testing.TB) {
	t.Helper()
	out, errs, code := Run(t, Build(t, "services/standalone/cmd/rotaloom"), nil, "nats-permissions")
	require.Zero(t, code, errs)
	d.natsUsers = filepath.Join(t.TempDir(), "users.conf")
	text := regexp.MustCompile(`\$NATS_PASSWORD_[A-Z]+`).ReplaceAllString(out, natsPassword)
	text = strings.Replace(text, "users = [", "users = [\n    {user: operator, password: "+natsPassword+"}", 1)
	require.NoError(t, os.WriteFile(d.natsUsers, []byte(text), 0o600))
}

// StartNATS starts the broker, with its earlier streams.
func (d *Deployment) StartNATS(t testing.TB) {
	t.Helper()
	server, err := localnats.Start(localnats.Config{Dir: d.natsDir, Port: d.natsPort, Users: d.natsUsers})
	require.NoError(t, err)
	d.nats = server
}

// StopNATS stops the broker.
func (d *Deployment) StopNATS() {
	if d.nats != nil {
		d.nats.Stop()
		d.nats = nil
	}
}

// WipeNATS deletes all data of a stopped broker.
func (d *Deployment) WipeNATS(t testing.TB) {
	t.Helper()
	require.Nil(t, d.nats, "the broker runs")
	require.NoError(t, os.RemoveAll(d.natsDir))
}

// Edge starts another edge, and returns its URL. It accepts calls as soon as it listens. Settings,
// "ROTALOOM_NAME=value", precede those of all programs.
func (d *Deployment) Edge(t testing.TB, name string, settings ...string) string {
	t.Helper()
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	d.program(t, name, "gateway/cmd/gateway", append(slices.Clone(d.env), settings...), append([]string{"--listen", listen}, d.certs["gateway"]...)...)
	return "https://" + listen
}

// Replica starts another process of a service on the same database, under another name, and returns
// its address.
func (d *Deployment) Replica(t testing.TB, service, name string) string {
	t.Helper()
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == service })
	require.GreaterOrEqual(t, i, 0, service)
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	d.program(t, name, programs[i].command, d.env, append(slices.Clone(d.args[service]), "--listen", listen)...)
	return listen
}

// Operate runs an operators' command of a service, and returns its output.
func (d *Deployment) Operate(t testing.TB, service string, command ...string) string {
	t.Helper()
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == service })
	require.GreaterOrEqual(t, i, 0, service)
	out, errs, code := Run(t, d.binary(t, programs[i].command), append(slices.Clone(d.env), "ROTALOOM_DATABASE_URL="+d.DatabaseURL(service)), command...)
	require.Zero(t, code, errs)
	return out
}
