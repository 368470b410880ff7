package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/user"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// The SQLSTATEs of missing permissions.
const (
	insufficientPrivilege = "42501"
	invalidAuthorization  = "28000"
	invalidPassword       = "28P01"
	unknownDatabase       = "3D000"
)

// permissionAdvice returns what to grant if err is a missing permission, or otherwise.
func permissionAdvice(err error, otherwise string) string {
	var refused *pgconn.PgError
	var file *fs.PathError
	switch {
	case errors.As(err, &refused):
		return databasePermissionAdvice(refused, otherwise)
	case errors.As(err, &file) && errors.Is(err, fs.ErrPermission):
		return fileAdvice(file.Path)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return "the servers refuse the user: set its name and password in --nats-url, or its file in --nats-credentials; rotaloom nats-permissions prints the users that the servers need"
	case errors.Is(err, nats.ErrPermissionViolation):
		return "permit the user the subject in the error: rotaloom nats-permissions prints what each service needs; doctor itself needs to publish $JS.API.INFO and to subscribe to _INBOX.doctor.>"
	}
	return otherwise
}

func databasePermissionAdvice(refused *pgconn.PgError, otherwise string) string {
	switch refused.Code {
	case insufficientPrivilege:
		return "let the role of --database-url own the database and its tables: ALTER DATABASE <database> OWNER TO <role>, " +
			"and in the database REASSIGN OWNED BY <owner of the tables> TO <role>; or use the owner in the URL"
	case invalidAuthorization:
		return "admit the role of --database-url: ALTER ROLE <role> LOGIN, and a line for it in pg_hba.conf"
	case invalidPassword:
		return "set the role's password in --database-url, or change it: ALTER ROLE <role> PASSWORD '...'"
	case unknownDatabase:
		return "create the database: CREATE DATABASE <database> OWNER <role>; or let serve create it: ALTER ROLE <role> CREATEDB"
	}
	return otherwise
}

// fileAdvice says how to let this user read a file.
func fileAdvice(path string) string {
	name := "this user"
	if current, err := user.Current(); err == nil {
		name = "the user " + current.Username
	}
	return fmt.Sprintf("let %s read %s: run the command as the user of the server (sudo -u rotaloom), or change the owner of the file", name, path)
}

// deniedTables returns tables of a database that the role cannot read and write, at most some.
func deniedTables(ctx context.Context, pool *pg.Pool) (names string, err error) {
	err = pool.QueryRow(tenant.All(ctx), `SELECT coalesce(string_agg(relname, ', '), '') FROM (
		SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
		AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')) ORDER BY relname LIMIT 3) AS denied`).Scan(&names)
	return names, err
}
