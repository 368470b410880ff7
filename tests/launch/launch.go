// Package launch starts the product in the same way as its users: it builds the binaries and runs
// them in separate processes.
package launch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
)

const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 15 * time.Second
	loginTimeout = 10 * time.Second
	pollInterval = 20 * time.Millisecond
)

// Ready is the output of the standalone process when it is ready.
type Ready struct {
	BaseURL     string `json:"baseUrl"`
	CAFile      string `json:"caFile"`
	Tenant      string `json:"tenant"`
	Credentials struct {
		Username     string `json:"username"`
		Password     string `json:"password"`
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	} `json:"credentials"`
}

var builds = struct {
	sync.Mutex
	done map[string]error
}{done: map[string]error{}}

// Root returns the folder of the repository: the nearest folder above the working directory with a
// go.work. The path of a source file would not work, because builds with -trimpath do not record
// it.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "run this inside the repository: no go.work was found")
		dir = parent
	}
}

// Build builds a command of the workspace, such as "services/standalone/cmd/rotaloom", and returns
// the path of the binary.
func Build(t testing.TB, command string) string {
	t.Helper()
	binary := filepath.Join(Root(t), "bin", "test", filepath.Base(command))
	builds.Lock()
	defer builds.Unlock()
	err, done := builds.done[command]
	if !done {
		err = buildCommand(Root(t), command, binary)
		builds.done[command] = err
	}
	require.NoError(t, err)
	return binary
}

// buildCommand waits for other building processes, which might replace a binary that this process is about
// to run.
func buildCommand(root, command, binary string) error {
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(filepath.Dir(binary), ".lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", binary, "./"+command)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", command, err, out)
	}
	return nil
}

// Run runs a binary to its end, within a minute, and returns its output and exit code.
func Run(t testing.TB, binary string, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &errs
	// Processes that the binary leaves running must not block Wait.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Process is a running binary.
type Process struct {
	*exec.Cmd
	// Log is the file with its output.
	Log    string
	exited chan struct{}
}

// Start runs a binary until the end of the test.
func Start(t testing.TB, binary string, env []string, args ...string) *Process {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), filepath.Base(binary)+"-*.log")
	require.NoError(t, err)
	p := &Process{Cmd: exec.Command(binary, args...), Log: log.Name(), exited: make(chan struct{})}
	p.Stdout, p.Stderr = log, log
	p.Env = append(os.Environ(), env...)
	require.NoError(t, p.Cmd.Start())
	go func() {
		defer close(p.exited)
		defer log.Close()
		_ = p.Wait() // ProcessState has the result.
	}()
	t.Cleanup(func() {
		p.Stop(t)
		if t.Failed() {
			p.report(t)
		}
	})
	return p
}

// Kill ends the process at once, like a crash.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGKILL) // It may have ended already.
	<-p.exited
}

// Stop asks the process to end, and waits for its end.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGTERM) // It may have ended already.
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		t.Errorf("%s did not stop within %s: the end of its log shows the last activity", p.Path, stopTimeout)
		_ = p.Process.Signal(syscall.SIGQUIT) // The Go runtime prints the stacks of all goroutines, and ends.
		select {
		case <-p.exited:
		case <-time.After(stopTimeout):
			p.Kill(t)
		}
	}
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode returns the exit code of the ended process.
func (p *Process) ExitCode() int {
	<-p.exited
	return p.ProcessState.ExitCode()
}

func (p *Process) output() string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	const most = 20_000
	if len(data) > most {
		data = data[len(data)-most:]
	}
	return string(data)
}

// Output returns the output of the process so far, or the end of a long output.
func (p *Process) Output() string { return p.output() }

// Await polls until the condition holds, or fails the test.
func Await(t testing.TB, timeout time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, timeout)
		}
		time.Sleep(pollInterval) // Pause between two polls.
	}
}

// Server is a running standalone process.
type Server struct {
	*Process
	Ready
	// Client trusts the server's certificate.
	Client   *http.Client
	StateDir string
}

// Standalone starts the standalone process on a free port with a state folder of its own, and waits
// until it responds. The folder is a copy of one after a first start, unless args name other
// database servers or brokers.
func Standalone(t testing.TB, args ...string) *Server {
	t.Helper()
	dir := t.TempDir()
	if !startsFromNothing(args) {
		copyState(t, dir)
	}
	return StandaloneIn(t, dir, nil, args...)
}

// StandaloneIn is Standalone with a given state folder, which may be empty, and with additions to
// the environment.
func StandaloneIn(t testing.TB, stateDir string, env []string, args ...string) *Server {
	t.Helper()
	binary := Build(t, "services/standalone/cmd/rotaloom")
	readyFile := filepath.Join(stateDir, "ready.json")
	require.NoError(t, removeIfThere(readyFile))
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-address", "", "--state-dir", stateDir}, args...)
	s := &Server{Process: Start(t, binary, env, all...), StateDir: stateDir}
	Await(t, startTimeout, "ready.json", func() bool {
		select {
		case <-s.Exited():
			t.Fatalf("the server ended with %d:\n%s", s.ExitCode(), s.Output())
		default:
		}
		data, err := os.ReadFile(readyFile)
		return err == nil && json.Unmarshal(data, &s.Ready) == nil
	})
	s.Client = Client(t, s.CAFile)
	return s
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Client returns an HTTP client that trusts the authority in caFile.
func Client(t testing.TB, caFile string) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(caFile)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(pem))
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: 32,
		// Shorter than the server's timeout, as in clients: a connection that the server is closing
		// would lose a POST, which is not sent twice.
		IdleConnTimeout:    90 * time.Second,
		DisableCompression: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// Target logs in and returns the server as a target of contract cases.
func (s *Server) Target(t testing.TB) contract.Target {
	t.Helper()
	return Login(t, s.Client, s.Ready)
}

// Login gets a token for the credentials and returns the target of contract cases.
func Login(t testing.TB, client *http.Client, ready Ready) contract.Target {
	t.Helper()
	target, err := login(t, client, ready)
	require.NoError(t, err)
	return target
}

// TryLogin logs in with the credentials, and returns the server's response as an error if that
// fails.
func TryLogin(t testing.TB, client *http.Client, ready Ready) error {
	t.Helper()
	_, err := login(t, client, ready)
	return err
}

// LoginWorks reports whether the server accepts the credentials.
func LoginWorks(t testing.TB, client *http.Client, ready Ready) bool {
	t.Helper()
	return TryLogin(t, client, ready) == nil
}

func login(t testing.TB, client *http.Client, ready Ready) (contract.Target, error) {
	t.Helper()
	target := contract.Target{BaseURL: ready.BaseURL, Client: client, Values: map[string]string{
		"username":      ready.Credentials.Username,
		"password":      ready.Credentials.Password,
		"client_id":     ready.Credentials.ClientID,
		"client_secret": ready.Credentials.ClientSecret,
	}}
	ctx, cancel := context.WithTimeout(context.Background(), loginTimeout)
	defer cancel()
	var err error
	target.Token, err = contract.Login(ctx, target)
	return target, err
}
