// Package pgerr recognises the errors of PostgreSQL by SQLSTATE and constraint name, and tells
// temporary conditions from failures.
package pgerr

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The SQLSTATEs that services and this package distinguish.
const (
	notNullViolation     = "23502"
	foreignKeyViolation  = "23503"
	uniqueViolation      = "23505"
	checkViolation       = "23514"
	exclusionViolation   = "23P01"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
	ioError              = "58030"
	connectionException  = "08" // a class

	insufficientResources = "53" // a class
	systemError           = "58" // a class
)

// IsUnique reports whether err is a violation of the named unique constraint or index, or of any
// one if the name is empty.
func IsUnique(err error, constraint string) bool { return violates(err, uniqueViolation, constraint) }

// IsForeignKey reports whether err is a violation of the named foreign key, or of any one if the
// name is empty.
func IsForeignKey(err error, constraint string) bool {
	return violates(err, foreignKeyViolation, constraint)
}

// IsCheck reports whether err is a violation of the named check constraint, or of any one if the
// name is empty.
func IsCheck(err error, constraint string) bool { return violates(err, checkViolation, constraint) }

// IsExclusion reports whether err is a violation of the named exclusion constraint, or of any one
// if the name is empty.
func IsExclusion(err error, constraint string) bool {
	return violates(err, exclusionViolation, constraint)
}

// IsNull reports whether err means that the named column would be NULL.
func IsNull(err error, column string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == notNullViolation && pgErr.ColumnName == column
}

func violates(err error, state, constraint string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == state &&
		(constraint == "" || pgErr.ConstraintName == constraint)
}

// TimedOut reports whether the database cancelled a statement: it exceeded the statement timeout,
// or the lock timeout while it waited for a lock.
func TimedOut(err error) bool {
	return hasState(err, queryCanceled, lockNotAvailable)
}

// Unavailable reports whether err means that the database is unreachable, shutting down or
// starting, so that the same request may succeed a little later. If a commit failed this way, its
// outcome is unknown.
func Unavailable(err error) bool {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return strings.HasPrefix(pgErr.Code, connectionException) ||
			hasState(err, tooManyConnections, adminShutdown, crashShutdown, cannotConnectNow)
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var connectErr *pgconn.ConnectError
	if errors.As(err, &connectErr) {
		return true
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false // The caller's deadline has passed; that says nothing about the database.
	}
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Unreachable is Unavailable without the servers that respond and have no free connection.
func Unreachable(err error) bool {
	return Unavailable(err) && !hasState(err, tooManyConnections)
}

// Conflicted reports whether the database ended a statement or transaction because of a concurrent
// one, so that running it again may succeed.
func Conflicted(err error) bool {
	return hasState(err, serializationFailure, deadlockDetected)
}

// Exhausted reports whether the server is out of memory or disk space, or its disk fails. The
// statement is not the cause.
func Exhausted(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (strings.HasPrefix(pgErr.Code, insufficientResources) || strings.HasPrefix(pgErr.Code, systemError))
}

// IsUndefinedTable reports whether err means that a table does not exist.
func IsUndefinedTable(err error) bool { return hasState(err, undefinedTable) }

func hasState(err error, states ...string) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return false
	}
	for _, state := range states {
		if pgErr.Code == state {
			return true
		}
	}
	return false
}
