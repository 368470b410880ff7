package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// dateFormat is how dates are written, in the reference product's terms.
const dateFormat = "yyyy-MM-dd"

// GetCurrentUserInfo answers who is calling. A user who is no person has a name
// only.
func (h *Handler) GetCurrentUserInfo(ctx context.Context, _ *commonsv1.GetCurrentUserInfoRequest) (*commonsv1.CurrentUserInfo, error) {
	caller, _ := authn.From(ctx)
	if caller == nil {
		caller = &authn.Principal{}
	}
	out := &commonsv1.CurrentUserInfo{UserName: caller.Subject}
	zone := h.defaultZone
	persons, err := load(ctx, h.pool, tenantOf(ctx), []int64{caller.PersonID})
	if err != nil {
		return nil, err
	}
	if p := persons[caller.PersonID]; p != nil {
		out.EmployeeId, out.PersonNumber = p.id, p.number()
		out.FirstName, out.LastName, out.MiddleInitial = p.details().GetFirstName(), p.details().GetLastName(), p.details().GetMiddleInitial()
		out.UserLocale = access(p.record).GetLocalePolicyName()
		zone = p.zone
	}
	out.TimeZone = h.timeZone(zone)
	return out, nil
}

func (h *Handler) timeZone(name string) *commonsv1.CurrentUserTimeZone {
	out := &commonsv1.CurrentUserTimeZone{DisplayName: name, DateFormat: dateFormat}
	if location, err := tzdb.Load(name); err == nil {
		now := h.clock.Now().In(location)
		out.ShortName, out.GmtOffset = now.Format("MST"), now.Format("-07:00")
	}
	return out
}
