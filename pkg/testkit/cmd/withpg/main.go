// Command withpg runs a command with a disposable PostgreSQL server, so that all test processes of
// a run share it:
//
//	go run ./testkit/cmd/withpg go test ./...
//
// The command finds the server's URL in ROTALOOM_TEST_DATABASE_URL. If the variable is already set,
// withpg uses the server that it names.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpg COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1], os.Args[2:])
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(exit.ExitCode(), 1)) // The command has printed the reason.
	case err != nil:
		fmt.Fprintln(os.Stderr, "withpg:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) (err error) {
	// The terminal sends Ctrl-C to the command too; SIGTERM is passed on.
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if os.Getenv(pgtest.URLVariable) != "" {
		return cmd.Run()
	}
	dir, err := os.MkdirTemp("", "rotaloom-withpg-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := localpg.Start(ctx, localpg.Config{Dir: dir, Disposable: true, MaxConnections: 400})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.Background())) }()
	cmd.Env = append(os.Environ(), pgtest.URLVariable+"="+server.AdminURL("postgres"))
	return cmd.Run()
}
