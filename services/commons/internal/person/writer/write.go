// Package writer creates, changes and deletes persons in bulk. Each item succeeds or fails
// separately.
package writer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/account"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// writeAttempts limits the attempts of a request after conflicts with others.
const writeAttempts = 4

// Writer creates, changes and deletes persons.
type Writer struct {
	pool     *pg.Pool
	reader   *reader.Reader
	rules    *rules.Rules
	accounts *account.Accounts
	lockouts *account.Lockouts
	// groups finds employee groups.
	groups *search.Groups
}

// Deps are the dependencies of a writer.
type Deps struct {
	Pool   *pg.Pool
	Users  authv1.UserServiceClient
	Groups *search.Groups
	Rules  *rules.Rules
	Zones  *civil.Zones
	Log    *slog.Logger
}

// New returns a Writer. It uses the reader to read the persons that it changes.
func New(deps Deps, reader *reader.Reader) *Writer {
	return &Writer{
		pool: deps.Pool, reader: reader, groups: deps.Groups, rules: deps.Rules,
		accounts: account.New(deps.Pool, deps.Users, deps.Log),
		lockouts: account.NewLockouts(deps.Pool, deps.Users, deps.Zones, deps.Log),
	}
}

// Run does the background work until ctx ends.
func (w *Writer) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.accounts.Run(ctx) })
	group.Go(func() error { return w.lockouts.Run(ctx) })
	return group.Wait()
}

// Mode selects the operation of a request on persons.
type Mode int

const (
	// Create treats every person as new.
	Create Mode = iota
	// Update requires existing persons.
	Update
	// Upsert changes existing persons and creates the others.
	Upsert
)

// Write stores the persons that pass all checks, and sets the error of the others. It returns
// an error for a failure that no item caused; nothing is written then.
func (w *Writer) Write(ctx context.Context, persons []*commonsv1.Person, m Mode) ([]*store.Item, error) {
	return w.WriteWith(ctx, persons, m, Related{})
}

// Related is data beside the persons of a request. Each list is empty or has one element for
// each person.
type Related struct {
	Hires []*store.NewHire
	// WageRules are changed together with the person.
	WageRules [][]*commonsv1.WageWorkRule
}

// WriteWith is like Write, with data beside the persons.
func (w *Writer) WriteWith(ctx context.Context, persons []*commonsv1.Person, m Mode, with Related) ([]*store.Item, error) {
	for range writeAttempts {
		items, err := w.attemptWrite(ctx, persons, m, with)
		if !errors.Is(err, store.ErrStale) {
			return items, err
		}
	}
	return nil, fault.New(rules.CodeChanged, http.StatusConflict, "Other requests are changing the same persons. Try again.")
}

func (w *Writer) attemptWrite(ctx context.Context, persons []*commonsv1.Person, m Mode, with Related) ([]*store.Item, error) {
	items, err := w.prepare(ctx, persons, m, with.WageRules)
	if err != nil {
		return nil, err
	}
	for i, kept := range with.Hires {
		items[i].NewHire = kept
	}
	refuseWages(ctx, persons, items)
	refuseDuplicates(items)
	for _, refuse := range []func(context.Context, []*store.Item) error{w.refuseOutOfScope, w.refuseUnknownTerms, w.refuseUnknownDeviceGroups, w.refuseLockouts, refuseStale, w.refuseTaken, w.refuseBadges} {
		if err := refuse(ctx, items); err != nil {
			return nil, err
		}
	}
	unknown, err := w.unknownJobs(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := w.assignIDs(ctx, items); err != nil {
		return nil, err
	}
	accounts, err := w.accounts.Create(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := w.store(ctx, items, accounts); err != nil {
		w.accounts.Rollback(ctx, accounts)
		return nil, err
	}
	w.lockouts.Wake()
	w.accounts.Rollback(ctx, withoutItems(accounts, store.Valid(items)))
	return items, jobpath.Warn(ctx, unknown)
}

// prepare loads the existing persons and checks each item on its own.
func (w *Writer) prepare(ctx context.Context, persons []*commonsv1.Person, m Mode, wages [][]*commonsv1.WageWorkRule) ([]*store.Item, error) {
	items := make([]*store.Item, len(persons))
	keys := make([]store.Key, len(persons))
	for i, in := range persons {
		if items[i] = (&store.Item{Err: policy.CheckItem(in)}); items[i].Err != nil {
			continue
		}
		if m == Update || (m == Upsert && reader.IsIdentified(in.GetPersonIdentity())) {
			keys[i], items[i].Err = reader.ParseIdentity(in.GetPersonIdentity(), w.reader.Today(ctx))
		}
	}
	known, err := w.reader.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, in := range persons {
		it, old := items[i], known[keys[i]]
		switch {
		case it.Err != nil:
		case old != nil:
			it.ID, it.Old = old.ID, old
			var own []*commonsv1.WageWorkRule
			if len(wages) > 0 {
				own = wages[i]
			}
			if it.Draft, it.Err = w.rules.ChangedPerson(old.Record, in, own, w.reader.Today(ctx)); it.Err == nil {
				it.Err = w.rules.ChangeZone(it.Draft, old.Zone, old.Zones, w.reader.Now(ctx))
			}
		case keys[i] == store.Key{}:
			it.Draft, it.Err = w.rules.NewPerson(in)
		case m == Upsert && keys[i].CanCreate():
			it.Draft, it.Err = w.rules.NewPerson(keys[i].Fill(in))
		default:
			it.Err = keys[i].NotFound()
		}
	}
	return items, nil
}

// refuseStale refuses changes of persons if the caller has read another version. store.Write
// ensures that this version does not change before the change is stored.
func refuseStale(ctx context.Context, items []*store.Item) error {
	for _, it := range store.Valid(items) {
		if it.Old != nil {
			it.Err = checkVersion(ctx, it.ID, it.Old.Version)
		}
	}
	return nil
}

func checkVersion(ctx context.Context, id, version int64) error {
	return precondition.Check(ctx, fmt.Sprintf("person %d", id), version)
}

func (w *Writer) assignIDs(ctx context.Context, items []*store.Item) error {
	fresh := slices.DeleteFunc(store.Valid(items), func(it *store.Item) bool { return it.Old != nil })
	if len(fresh) == 0 {
		return nil
	}
	ids, err := store.NewIDs(ctx, w.pool, len(fresh))
	if err != nil {
		return err
	}
	for i, it := range fresh {
		it.ID = ids[i]
	}
	return nil
}

// store writes the valid items with their event, and deletes the intents of their accounts.
func (w *Writer) store(ctx context.Context, items []*store.Item, accounts []int64) error {
	var persons []store.Change
	event := &commonsv1.PersonsChanged{}
	for _, it := range store.Valid(items) {
		persons = append(persons, it.Change)
		event.Persons = append(event.Persons, it.State())
	}
	if len(persons) == 0 {
		return nil
	}
	return pg.InTx(ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := store.Write(ctx, tx, persons); err != nil {
			return err
		}
		if err := account.DeleteIntents(ctx, tx, persons, accounts); err != nil {
			return err
		}
		if err := store.InsertTermRequests(ctx, tx, persons); err != nil {
			return err
		}
		if err := w.lockouts.InsertIntents(ctx, tx, persons); err != nil {
			return err
		}
		if err := store.FillPrimaryJobs(ctx, tx, event.GetPersons()); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, event)
	})
}

// withoutItems returns the accounts whose persons are not among the items.
func withoutItems(accounts []int64, items []*store.Item) []int64 {
	return slices.DeleteFunc(slices.Clone(accounts), func(id int64) bool {
		return slices.ContainsFunc(items, func(it *store.Item) bool { return it.ID == id })
	})
}
