package person

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/employeegroup"
)

// writeAttempts bounds how often a request begins again because somebody else
// was faster.
const writeAttempts = 4

// writer creates, changes and deletes persons.
type writer struct {
	pool     *pgxpool.Pool
	reader   *reader
	rules    *rules
	accounts *accounts
	lockouts *lockouts
	// groups say whose employee group is which.
	groups *employeegroup.Groups
	wake   func()
}

// writerDeps are what a writer works with.
type writerDeps struct {
	pool   *pgxpool.Pool
	users  authv1.UserServiceClient
	groups *employeegroup.Groups
	rules  *rules
	zones  *civil.Zones
	log    *slog.Logger
	// wake tells the relay that there are events to publish.
	wake func()
}

func newWriter(deps writerDeps, reader *reader) *writer {
	return &writer{
		pool: deps.pool, reader: reader, groups: deps.groups, wake: deps.wake, rules: deps.rules,
		accounts: newAccounts(deps.pool, deps.users, deps.log),
		lockouts: newLockouts(deps.pool, deps.users, deps.zones, deps.log),
	}
}

// run does the work that no request asks for, until ctx ends.
func (w *writer) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.accounts.run(ctx) })
	group.Go(func() error { return w.lockouts.run(ctx) })
	return group.Wait()
}

// mode says what a request does with persons.
type mode int

const (
	// creates takes every person for a new one.
	creates mode = iota
	// changes needs persons who are there.
	changes
	// upserts changes those who are named and creates the others.
	upserts
)

// write takes the persons as far as each gets. It answers an error when
// something failed that is no fault of an item; nothing was written then.
func (w *writer) write(ctx context.Context, persons []*commonsv1.Person, m mode) ([]*item, error) {
	return w.writeWith(ctx, persons, m, beside{})
}

// beside is what is kept beside the persons of a request: each list is empty,
// or has one for each of them.
type beside struct {
	hires []*hire
	// wages are rules that are changed with the person.
	wages [][]*wageRule
}

// writeWith is write with what is kept beside the persons.
func (w *writer) writeWith(ctx context.Context, persons []*commonsv1.Person, m mode, with beside) ([]*item, error) {
	for range writeAttempts {
		items, err := w.attempt(ctx, persons, m, with)
		if !errors.Is(err, errStale) {
			return items, err
		}
	}
	return nil, fault.New(CodeChanged, http.StatusConflict, "Others change the same persons at the same time. Try again.")
}

func (w *writer) attempt(ctx context.Context, persons []*commonsv1.Person, m mode, with beside) ([]*item, error) {
	tenantID, _ := tenant.From(ctx)
	items, err := w.prepare(ctx, tenantID, persons, m, with.wages)
	if err != nil {
		return nil, err
	}
	for i, kept := range with.hires {
		items[i].hire = kept
	}
	refuseTwins(items)
	for _, refuse := range []func(context.Context, []*item) error{w.refuseBeyondReach, w.refuseTaken, w.refuseBadges, w.refuseUnknownTerms, w.refuseLockouts} {
		if err := refuse(ctx, items); err != nil {
			return nil, err
		}
	}
	if err := w.assignIDs(ctx, items); err != nil {
		return nil, err
	}
	accounts, err := w.accounts.open(ctx, tenantID, items)
	if err != nil {
		return nil, err
	}
	if err := w.store(ctx, tenantID, items, accounts); err != nil {
		w.accounts.undo(ctx, tenantID, accounts)
		return nil, err
	}
	w.wake()
	w.lockouts.wake()
	w.accounts.undo(ctx, tenantID, without(accounts, good(items)))
	return items, nil
}

// prepare checks each person by themselves, with what is known of them.
func (w *writer) prepare(ctx context.Context, tenantID int64, persons []*commonsv1.Person, m mode, wages [][]*wageRule) ([]*item, error) {
	items := make([]*item, len(persons))
	keys := make([]key, len(persons))
	for i, in := range persons {
		items[i] = &item{}
		if m == changes || (m == upserts && named(in.GetPersonIdentity())) {
			keys[i], items[i].err = readIdentity(in.GetPersonIdentity(), w.reader.today())
		}
	}
	known, err := w.reader.known(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	for i, in := range persons {
		it, old := items[i], known[keys[i]]
		switch {
		case it.err != nil:
		case old != nil:
			it.id, it.old = old.id, old
			var own []*wageRule
			if len(wages) > 0 {
				own = wages[i]
			}
			it.draft, it.err = w.rules.change(old.record, in, own, w.reader.today())
		case keys[i] == key{}:
			it.draft, it.err = w.rules.prepare(in)
		case m == upserts && keys[i].creates():
			it.draft, it.err = w.rules.prepare(keys[i].fill(in))
		default:
			it.err = keys[i].unknown()
		}
	}
	return items, nil
}

func (w *writer) assignIDs(ctx context.Context, items []*item) error {
	fresh := slices.DeleteFunc(good(items), func(it *item) bool { return it.old != nil })
	if len(fresh) == 0 {
		return nil
	}
	ids, err := newIDs(ctx, w.pool, len(fresh))
	if err != nil {
		return err
	}
	for i, it := range fresh {
		it.id = ids[i]
	}
	return nil
}

// store writes the items that are still good, with the event that tells of
// them, and takes back the intents of their accounts.
func (w *writer) store(ctx context.Context, tenantID int64, items []*item, accounts []int64) error {
	var persons []newPerson
	event := &commonsv1.PersonsChanged{}
	for _, it := range good(items) {
		persons = append(persons, it.newPerson)
		event.Persons = append(event.Persons, it.state())
	}
	if len(persons) == 0 {
		return nil
	}
	return pg.InTx(ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := write(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		if err := forgetIntents(ctx, tx, tenantID, persons, accounts); err != nil {
			return err
		}
		if err := storeTerms(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		if err := w.lockouts.note(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, tenantID, event)
	})
}

// without answers the accounts whose persons are not among the items.
func without(accounts []int64, items []*item) []int64 {
	return slices.DeleteFunc(slices.Clone(accounts), func(id int64) bool {
		return slices.ContainsFunc(items, func(it *item) bool { return it.id == id })
	})
}
