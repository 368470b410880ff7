package auth

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
)

// Operation is an operator command. Out receives its result.
type Operation interface {
	Operate(ctx context.Context, s *Service, out io.Writer) error
}

// Do runs an operation on the service's database while other processes serve.
func Do(ctx context.Context, database pg.Config, cfg Config, operation Operation, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	service, err := New(ctx, cfg, Deps{Backends: serve.Backends{Pool: pool, Log: log, Clock: clock.System{}}})
	if err != nil {
		return err
	}
	// Operators do not need the key that decrypts signing keys.
	if err := serve.CheckSchema(ctx, pool, Migrations); err != nil {
		return err
	}
	return operation.Operate(ctx, service, out)
}

// DoOnceMigrated waits until the database has the schema of this program or ctx ends, and then calls [Do].
func DoOnceMigrated(ctx context.Context, database pg.Config, cfg Config, operation Operation, log *slog.Logger, out io.Writer) error {
	retry := &backoff.Backoff{First: 100 * time.Millisecond, Max: 2 * time.Second}
	for {
		done := &onceMigrated{operation, false}
		err := Do(ctx, database, cfg, done, log, out)
		if err == nil || done.begun {
			return err
		}
		if ctx.Err() != nil || retry.Wait(ctx) != nil {
			return fmt.Errorf("the schema of auth does not exist yet: %w", err)
		}
	}
}

// onceMigrated records that an operation has begun, because it must not be repeated.
type onceMigrated struct {
	Operation
	begun bool
}

func (o *onceMigrated) Operate(ctx context.Context, s *Service, out io.Writer) error {
	o.begun = true
	return o.Operation.Operate(ctx, s, out)
}

// CreateTenantCommand creates a tenant.
type CreateTenantCommand struct {
	boot.Output
	Name     string `arg:"" help:"Name of the tenant."`
	Host     string `required:"" help:"Host name that the tenant's users call."`
	Username string `name:"admin" default:"admin" help:"Name of the tenant's administrator."`
	ClientID string `default:"local" help:"Id of the tenant's first client."`
	Sandbox  bool   `help:"Create a sandbox: a tenant for tests without real data, whose clock can be advanced. This cannot be changed later."`
}

// Operate prints the tenant with its secrets, once.
func (c *CreateTenantCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	created, err := s.CreateTenant(ctx, NewTenant{Name: c.Name, Host: c.Host, Username: c.Username, ClientID: c.ClientID, Sandbox: c.Sandbox})
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.Print(out, map[string]any{
			"tenant": created.ID, "host": created.Host, "sandbox": created.Sandbox, "username": created.Username, "password": created.Password.Reveal(),
			"client_id": created.ClientID, "client_secret": created.ClientSecret.Reveal(),
		}, nil)
	}
	_, err = fmt.Fprintf(out, "tenant: %d\nhost: %s\nsandbox: %t\nusername: %s\npassword: %s\nclient_id: %s\nclient_secret: %s\n",
		created.ID, created.Host, created.Sandbox, created.Username, created.Password.Reveal(), created.ClientID, created.ClientSecret.Reveal())
	return err
}

// ListTenantsCommand lists the tenants.
type ListTenantsCommand struct {
	boot.Output
}

// listedTenant is the JSON output for a tenant.
type listedTenant struct {
	ID   int64  `json:"tenant"`
	Name string `json:"name"`
	// Host is absent for the tenant of all other names.
	Host string `json:"host,omitempty"`
	// Sandbox means that the tenant is for tests. DateTime is the time on the clock of a sandbox.
	Sandbox       bool       `json:"sandbox"`
	DateTime      *time.Time `json:"dateTime,omitempty"`
	DisabledSince *time.Time `json:"disabledSince,omitempty"`
}

// Operate prints one line for each tenant.
func (c *ListTenantsCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	tenants, err := s.ListTenants(ctx)
	if err != nil {
		return err
	}
	listed := make([]listedTenant, len(tenants))
	for i, t := range tenants {
		listed[i] = listedTenant{ID: t.ID, Name: t.Name, Host: t.Host, Sandbox: t.Sandbox, DisabledSince: t.DisabledAt}
		if t.Sandbox {
			at := s.clock.Now().Add(t.ClockAhead).Truncate(time.Second)
			listed[i].DateTime = &at
		}
	}
	return c.Print(out, listed, func(table io.Writer) {
		fmt.Fprintln(table, "tenant\thost\tstate\tclock\tname")
		for i, t := range tenants {
			host, state, shown := t.Host, "enabled", "real time"
			if host == "" {
				host = "(all others)"
			}
			if t.DisabledAt != nil {
				state = "disabled since " + t.DisabledAt.UTC().Format(time.RFC3339)
			}
			if t.Sandbox {
				shown = "sandbox at " + listed[i].DateTime.Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", t.ID, host, state, shown, t.Name)
		}
	})
}

// DisableTenantCommand disables a tenant.
type DisableTenantCommand struct {
	boot.Output
	ID int64 `arg:"" help:"Number of the tenant, as list shows it."`
}

// Operate disables the tenant and reports success.
func (c *DisableTenantCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	if err := s.DisableTenant(ctx, c.ID); err != nil {
		return err
	}
	return c.PrintLine(out, map[string]any{"tenant": c.ID, "enabled": false}, "tenant %d is disabled", c.ID)
}

// EnableTenantCommand enables a tenant.
type EnableTenantCommand struct {
	boot.Output
	ID int64 `arg:"" help:"Number of the tenant, as list shows it."`
}

// Operate enables the tenant and reports success.
func (c *EnableTenantCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	if err := s.EnableTenant(ctx, c.ID); err != nil {
		return err
	}
	return c.PrintLine(out, map[string]any{"tenant": c.ID, "enabled": true}, "tenant %d is enabled", c.ID)
}

// RotateSigningKeysCommand replaces the signing keys early.
type RotateSigningKeysCommand struct {
	boot.Output
}

// Operate retires the keys and explains the next steps of the serving processes.
func (c *RotateSigningKeysCommand) Operate(ctx context.Context, s *Service, out io.Writer) error {
	var n int64
	err := pg.InTx(tenant.With(ctx, tenant.Default), s.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		now := s.clock.Now()
		if n, err = signing.Retire(ctx, tx, now); err != nil {
			return err
		}
		// All tenants share the keys. The audit row belongs to the default tenant.
		return audit.Operated(ctx, tx, now, "signing-keys rotate")
	})
	if err != nil {
		return fmt.Errorf("rotate signing keys: %w", err)
	}
	return c.PrintLine(out, map[string]any{"replaced": n}, "%d signing keys will be replaced: auth publishes the next key within a minute, "+
		"and signs with it when all programs know it; existing tokens stay valid until they expire", n)
}
