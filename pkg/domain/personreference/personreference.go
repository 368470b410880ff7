// Package personreference lets persons follow the names of objects that they refer to by name, such as pay
// rules and schedule groups. Persons cannot have ids, because commons calls no service above it. The service
// of an object keeps its former names until commons has written the present name to the persons.
package personreference

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// renameTimeout is the timeout of one call of commons, which stops earlier if there are many persons.
	renameTimeout = 10 * time.Second
	// The sweep runs every sweepEvery and takes up names that are older than sweepAfter. Newer names are
	// left to the requests that made them.
	sweepEvery = 2 * time.Second
	sweepAfter = 5 * time.Second
	sweepLimit = 100

	followed pg.Unaudited = "commons has what was changed and audited before"
)

var errIncomplete = errors.New("some persons still have the former name")

// Kind is a kind of objects that persons refer to by name, with the statements for the former names of its
// objects.
type Kind struct {
	// Reference is the kind in calls of commons, and What the name of the kind in messages.
	Reference commonsv1.PersonReference
	What      string
	// Waiting returns the former names of the object $2 of the tenant $1 that persons may still have, the
	// oldest first. Present returns its present name.
	Waiting, Present string
	// Followed notes that persons have the present name $4 of the object $3 instead of the former name $2.
	// It changes nothing if the object has another name now.
	Followed string
	// Overdue returns the tenants and the ids of at most $2 objects with names that have waited for $1
	// seconds, the oldest first.
	Overdue string
}

// Client is the part of [commonsv1.PersonReferenceServiceClient] that finds and renames objects in the data
// of persons.
type Client interface {
	FindPersonReferences(ctx context.Context, req *commonsv1.FindPersonReferencesRequest, opts ...grpc.CallOption) (*commonsv1.FindPersonReferencesResponse, error)
	RenamePersonReferences(ctx context.Context, req *commonsv1.RenamePersonReferencesRequest, opts ...grpc.CallOption) (*commonsv1.RenamePersonReferencesResponse, error)
}

// Follower lets persons follow the names of the objects of a service.
type Follower struct {
	pool   *pg.Pool
	client Client
	log    *slog.Logger
	kinds  []*Kind
}

// New returns a Follower for the objects of some kinds in the database of the pool.
func New(pool *pg.Pool, client Client, log *slog.Logger, kinds ...*Kind) *Follower {
	return &Follower{pool: pool, client: client, log: log, kinds: kinds}
}

// Follow has commons write the present name of an object to the persons that have a former name. If commons
// is away, the persons follow later.
func (f *Follower) Follow(ctx context.Context, kind *Kind, id int64) {
	if err := f.follow(ctx, kind, id); err != nil {
		f.log.WarnContext(ctx, "persons do not have the new name of an object yet; it is tried again", "kind", kind.What, "id", id, "error", err)
	}
}

// follow does no harm if it is repeated: no other object can have a former name that waits.
func (f *Follower) follow(ctx context.Context, kind *Kind, id int64) error {
	waiting, err := pg.Collect(ctx, f.pool, pgx.RowTo[string], kind.Waiting, tenant.Of(ctx), id)
	if err != nil {
		return fmt.Errorf("read the former names of %s %d: %w", kind.What, id, err)
	}
	if len(waiting) == 0 {
		return nil
	}
	var present string
	if err := f.pool.QueryRow(ctx, kind.Present, tenant.Of(ctx), id).Scan(&present); err != nil {
		return fmt.Errorf("read the name of %s %d: %w", kind.What, id, err)
	}
	for _, former := range waiting {
		if err := f.rename(ctx, kind, former, present); err != nil {
			return err
		}
		if _, err := followed.Exec(ctx, f.pool, kind.Followed, tenant.Of(ctx), former, id, present); err != nil {
			return fmt.Errorf("note that persons have the new name of %s %d: %w", kind.What, id, err)
		}
	}
	return nil
}

func (f *Follower) rename(ctx context.Context, kind *Kind, former, present string) error {
	ctx, cancel := context.WithTimeout(ctx, renameTimeout)
	defer cancel()
	response, err := f.client.RenamePersonReferences(ctx, &commonsv1.RenamePersonReferencesRequest{Kind: kind.Reference, From: former, To: present})
	if err != nil {
		return fmt.Errorf("rename a %s in the data of persons: %w", kind.What, err)
	}
	if response.GetIncomplete() {
		return errIncomplete
	}
	return nil
}

// FindUser returns persons that refer to an object by one of the names, as the subject of a message; without
// any it returns "".
func (f *Follower) FindUser(ctx context.Context, kind *Kind, names []string) (string, error) {
	found, err := f.client.FindPersonReferences(ctx, &commonsv1.FindPersonReferencesRequest{Kind: kind.Reference, Names: names})
	if err != nil {
		return "", fmt.Errorf("find persons of a %s: %w", kind.What, err)
	}
	numbers := make([]string, len(found.GetPersonNumbers()))
	for i, number := range found.GetPersonNumbers() {
		numbers[i] = strconv.Quote(number)
	}
	switch {
	case len(numbers) == 0:
		return "", nil
	case found.GetPersons() == 1:
		return "The person " + numbers[0], nil
	}
	return fmt.Sprintf("Each of %d persons, such as %s,", found.GetPersons(), strings.Join(numbers, ", ")), nil
}

// Run lets persons follow the names that requests could not complete, until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := f.Sweep(ctx); err != nil && ctx.Err() == nil {
				f.log.WarnContext(ctx, "persons do not have the new names of objects yet; it is tried again", "error", err)
			}
		}
	}
}

// Sweep lets persons follow the overdue names of all tenants, once.
func (f *Follower) Sweep(ctx context.Context) error {
	type object struct{ Tenant, ID int64 }
	var failed error
	for _, kind := range f.kinds {
		list, err := pg.Collect(tenant.All(ctx), f.pool, pgx.RowToStructByPos[object], kind.Overdue, sweepAfter.Seconds(), sweepLimit)
		if err != nil {
			return fmt.Errorf("look for new names of %ss: %w", kind.What, err)
		}
		for _, o := range list {
			failed = errors.Join(failed, f.follow(tenant.With(ctx, o.Tenant), kind, o.ID))
		}
	}
	return failed
}
