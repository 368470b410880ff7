package person

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// writeAttempts bounds how often a request begins again because somebody else
// was faster.
const writeAttempts = 4

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

// item is one person of a request on the way through the operation. Its error
// is what the caller gets for it.
type item struct {
	newPerson
	err error
}

// write takes the persons as far as each gets. It answers an error when
// something failed that is no fault of an item; nothing was written then.
func (h *Handler) write(ctx context.Context, persons []*commonsv1.Person, m mode) ([]*item, error) {
	return h.writeWith(ctx, persons, m, beside{})
}

// beside is what is kept beside the persons of a request: each list is empty,
// or has one for each of them.
type beside struct {
	hires []*hire
	// wages are rules that are changed with the person.
	wages [][]*wageRule
}

// writeWith is write with what is kept beside the persons.
func (h *Handler) writeWith(ctx context.Context, persons []*commonsv1.Person, m mode, with beside) ([]*item, error) {
	for range writeAttempts {
		items, err := h.attempt(ctx, persons, m, with)
		if !errors.Is(err, errStale) {
			return items, err
		}
	}
	return nil, fault.New(CodeChanged, http.StatusConflict, "Others change the same persons at the same time. Try again.")
}

func (h *Handler) attempt(ctx context.Context, persons []*commonsv1.Person, m mode, with beside) ([]*item, error) {
	tenantID, _ := tenant.From(ctx)
	items, err := h.prepare(ctx, tenantID, persons, m, with.wages)
	if err != nil {
		return nil, err
	}
	for i, kept := range with.hires {
		items[i].hire = kept
	}
	refuseTwins(items)
	for _, refuse := range []func(context.Context, []*item) error{h.refuseBeyondReach, h.refuseTaken, h.refuseBadges, h.refuseUnknownTerms, h.refuseLockouts} {
		if err := refuse(ctx, items); err != nil {
			return nil, err
		}
	}
	if err := h.assignIDs(ctx, items); err != nil {
		return nil, err
	}
	accounts, err := h.accounts.open(ctx, tenantID, items)
	if err != nil {
		return nil, err
	}
	if err := h.store(ctx, tenantID, items, accounts); err != nil {
		h.accounts.undo(ctx, tenantID, accounts)
		return nil, err
	}
	h.wake()
	h.lockouts.wake()
	h.accounts.undo(ctx, tenantID, without(accounts, good(items)))
	return items, nil
}

// prepare checks each person by themselves, with what is known of them.
func (h *Handler) prepare(ctx context.Context, tenantID int64, persons []*commonsv1.Person, m mode, wages [][]*wageRule) ([]*item, error) {
	items := make([]*item, len(persons))
	keys := make([]key, len(persons))
	for i, in := range persons {
		items[i] = &item{}
		if m == changes || (m == upserts && named(in.GetPersonIdentity())) {
			keys[i], items[i].err = readIdentity(in.GetPersonIdentity(), h.today())
		}
	}
	known, err := h.known(ctx, tenantID, keys)
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
			it.draft, it.err = h.rules.change(old, in, own, h.today())
		case keys[i] == key{}:
			it.draft, it.err = h.rules.prepare(in)
		case m == upserts && keys[i].creates():
			it.draft, it.err = h.rules.prepare(keys[i].fill(in))
		default:
			it.err = keys[i].unknown()
		}
	}
	return items, nil
}

// known answers the persons whom keys name and whom the caller may see.
func (h *Handler) known(ctx context.Context, tenantID int64, keys []key) (map[key]*stored, error) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return k == key{} })
	if len(keys) == 0 {
		return nil, nil
	}
	visible, err := h.rows.rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := find(ctx, h.pool, tenantID, keys)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, id := range found {
		if !visible.Has(id) {
			authn.Hidden(ctx)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	persons, err := load(ctx, h.pool, tenantID, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	out := make(map[key]*stored, len(keys))
	for k, id := range found {
		if p := persons[id]; p != nil {
			out[k] = p
		}
	}
	return out, nil
}

func (h *Handler) today() civil.Date { return civil.FromTime(h.clock.Now()).Clamp() }

func (h *Handler) assignIDs(ctx context.Context, items []*item) error {
	fresh := slices.DeleteFunc(good(items), func(it *item) bool { return it.old != nil })
	if len(fresh) == 0 {
		return nil
	}
	ids, err := newIDs(ctx, h.pool, len(fresh))
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
func (h *Handler) store(ctx context.Context, tenantID int64, items []*item, accounts []int64) error {
	var persons []newPerson
	event := &commonsv1.PersonsChanged{}
	for _, it := range good(items) {
		persons = append(persons, it.newPerson)
		event.Persons = append(event.Persons, it.state())
	}
	if len(persons) == 0 {
		return nil
	}
	return pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := write(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		if err := forgetIntents(ctx, tx, tenantID, persons, accounts); err != nil {
			return err
		}
		if err := storeTerms(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		if err := h.lockouts.note(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, tenantID, event)
	})
}

// answer is what the caller gets for a person.
func (it *item) answer(in *commonsv1.Person, day civil.Date) *commonsv1.Person {
	out := it.show(it.id, day)
	if asked := in.GetPersonIdentity(); asked != nil {
		out.PersonIdentity.RequestItemId = asked.RequestItemId
	}
	return out
}

// creates reports whether an upsert creates the person when nobody has the key.
func (k key) creates() bool { return k.number != "" || k.external[0] != "" }

// fill answers the person with what the key says of them.
func (k key) fill(in *commonsv1.Person) *commonsv1.Person {
	if k.number == "" || in.GetPersonInformation().GetPerson().GetPersonNumber() != "" {
		return in
	}
	out := proto.CloneOf(in)
	if out.PersonInformation == nil {
		out.PersonInformation = &commonsv1.PersonInformation{}
	}
	if out.PersonInformation.Person == nil {
		out.PersonInformation.Person = &commonsv1.PersonDetails{}
	}
	out.PersonInformation.Person.PersonNumber = k.number
	return out
}

// good answers the items that have not failed.
func good(items []*item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.err != nil })
}

// without answers the accounts whose persons are not among the items.
func without(accounts []int64, items []*item) []int64 {
	return slices.DeleteFunc(slices.Clone(accounts), func(id int64) bool {
		return slices.ContainsFunc(items, func(it *item) bool { return it.id == id })
	})
}
