package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// lockoutBatch is the most persons that auth is told of at a time.
const lockoutBatch = 500

// Consumer tells auth, which consumes nothing, when persons may not log in. It
// follows the events that tell everybody else, so that nothing is lost and no
// request waits for it. Auth acts when the days come.
func (h *Handler) Consumer() bus.Consumer {
	return bus.Consumer{
		Durable:  "commons_lockout",
		Stream:   "COMMONS",
		Subjects: []string{"rotaloom.commons.person.changed"},
		HandleBatch: func(ctx context.Context, messages []bus.Message) error {
			var users []*authv1.UserLockout
			for _, m := range messages {
				event, err := bus.Decode[*commonsv1.PersonsChanged](m)
				if err != nil {
					return err
				}
				for _, s := range event.GetPersons() {
					if lockout, err := h.lockout(s); err != nil {
						return err
					} else if lockout != nil {
						users = append(users, lockout)
					}
				}
			}
			return h.tellLockouts(ctx, newestLockouts(users))
		},
	}
}

// lockout answers what auth is told of a person, or nil when that is nothing new.
func (h *Handler) lockout(s *commonsv1.PersonState) (*authv1.UserLockout, error) {
	if s.GetVersion() == 1 && len(s.GetLockedOut()) == 0 {
		return nil, nil // Nobody who begins has been locked out before.
	}
	zone, err := h.rules.zones.Get(s.GetTimeZone())
	if err != nil {
		return nil, bus.Permanent(err)
	}
	out := &authv1.UserLockout{PersonId: s.GetPersonId(), Version: s.GetVersion()}
	for _, d := range s.GetLockedOut() {
		days := rangeOf(d.GetFrom(), d.GetTo())
		out.Periods = append(out.Periods, &authv1.LockoutPeriod{
			From: zone.Unix(civil.DateTime{Date: days.From}), To: zone.Unix(civil.DateTime{Date: days.To}),
		})
	}
	return out, nil
}

// newestLockouts leaves of each person what is newest.
func newestLockouts(users []*authv1.UserLockout) []*authv1.UserLockout {
	at := map[int64]int{}
	var out []*authv1.UserLockout
	for _, u := range users {
		i, known := at[u.GetPersonId()]
		switch {
		case !known:
			at[u.GetPersonId()] = len(out)
			out = append(out, u)
		case out[i].GetVersion() < u.GetVersion():
			out[i] = u
		}
	}
	return out
}

func (h *Handler) tellLockouts(ctx context.Context, users []*authv1.UserLockout) error {
	for len(users) > 0 {
		n := min(len(users), lockoutBatch)
		if _, err := h.accounts.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: users[:n]}); err != nil {
			return err
		}
		users = users[n:]
	}
	return nil
}
