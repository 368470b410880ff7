package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// lockCreation serialises the creation of resources of a tenant that is close to its limit.
const lockCreation advisory.Lock = "creation of setup resources"

// scarce is the number of free places below which creations wait for each other. It is far
// above the number of creations at the same time.
const scarce = MaxListed / 2

// nameTaken is the error of Insert for a name that another resource has.
type nameTaken struct{ error }

func (e nameTaken) Unwrap() error { return e.error }

// Insert stores a new resource without validation. Most kinds have a [Resource], which validates
// before it stores.
func (k *Kind[T]) Insert(ctx context.Context, tx pgx.Tx, resource T) (out T, err error) {
	if err := k.checkRoom(ctx, tx); err != nil {
		return out, err
	}
	body, err := k.encode(resource)
	if err != nil {
		return out, err
	}
	var stored identity
	err = tx.QueryRow(ctx, k.sql.insert, tenant.Of(ctx), resource.GetName(), body).Scan(stored.columns(k.guids)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return out, nameTaken{k.nameTakenError(resource.GetName())}
	case err != nil:
		return out, fmt.Errorf("%s: insert: %w", k.Table, err)
	}
	out = k.fillResource(resource, stored)
	return out, k.index(ctx, tx, stored.id, out)
}

// checkRoom returns an error if a resource would exceed MaxListed.
func (k *Kind[T]) checkRoom(ctx context.Context, tx pgx.Tx) error {
	count := func() (n int, err error) {
		if err = tx.QueryRow(ctx, k.sql.room, tenant.Of(ctx), MaxListed).Scan(&n); err != nil {
			err = fmt.Errorf("%s: count: %w", k.Table, err)
		}
		return n, err
	}
	stored, err := count()
	if err != nil || stored < MaxListed-scarce {
		return err
	}
	if err := lockCreation.Wait(ctx, tx); err != nil {
		return err
	}
	if stored, err = count(); err == nil && stored >= MaxListed {
		err = k.full()
	}
	return err
}

// Replace stores a resource without validation in place of the one with the id. With a version, the
// stored resource must have that version. If-Match of the request has priority over the version.
// Most kinds have a [Resource], which validates before it stores.
func (k *Kind[T]) Replace(ctx context.Context, tx pgx.Tx, id int64, resource T, version *int64) (out T, now int64, err error) {
	body, err := k.encode(resource)
	if err != nil {
		return out, 0, err
	}
	var stored identity
	err = tx.QueryRow(ctx, k.sql.replace, tenant.Of(ctx), id, resource.GetName(), body, precondition.Versions(ctx, version)).Scan(stored.columns(k.guids)...)
	switch {
	case pgerr.IsUnique(err, k.Table+"_name"):
		return out, 0, k.nameTakenError(resource.GetName())
	case errors.Is(err, pgx.ErrNoRows):
		return out, 0, k.writeConflict(ctx, tx, id)
	case err != nil:
		return out, 0, fmt.Errorf("%s: replace: %w", k.Table, err)
	}
	out = k.fillResource(resource, stored)
	return out, stored.version, k.index(ctx, tx, id, out)
}

// writeConflict returns the error for a resource that was not written: it does not exist, or has
// another version.
func (k *Kind[T]) writeConflict(ctx context.Context, tx pgx.Tx, id int64) error {
	if _, err := k.Get(ctx, tx, id); err != nil {
		return err
	}
	return k.stale(ctx, id)
}

// Delete removes a locked resource that no other one refers to, and returns the version of the
// deletion. With a version, the stored resource must have that version. If-Match of the request has
// priority over the version.
func (k *Kind[T]) Delete(ctx context.Context, tx pgx.Tx, resource T, version *int64) (now int64, err error) {
	return k.delete(ctx, tx, sentID(resource), resource, version)
}

func (k *Kind[T]) delete(ctx context.Context, tx pgx.Tx, id int64, resource T, version *int64) (now int64, err error) {
	if err := k.checkUnused(ctx, tx, id, resource); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, k.sql.delete, tenant.Of(ctx), id, precondition.Versions(ctx, version)).Scan(&now)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, k.writeConflict(ctx, tx, id)
	case err != nil:
		return 0, fmt.Errorf("%s: delete: %w", k.Table, err)
	}
	return now, k.forget(ctx, tx, id)
}

// index records the references and the unique texts of a stored resource.
func (k *Kind[T]) index(ctx context.Context, tx pgx.Tx, id int64, stored T) error {
	if err := k.storeUnique(ctx, tx, id, stored); err != nil {
		return err
	}
	return k.indexReferences(ctx, tx, id, stored)
}

func (k *Kind[T]) encode(resource T) ([]byte, error) {
	stored := proto.CloneOf(resource)
	k.strip(stored)
	body, err := proto.Marshal(stored)
	if err != nil {
		return nil, fmt.Errorf("%s: encode: %w", k.Table, err)
	}
	return body, nil
}
