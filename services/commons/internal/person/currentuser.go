package person

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/extension"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// dateFormat is the format of dates, in the reference product's notation.
const dateFormat = "yyyy-MM-dd"

// GetCurrentUserInfo returns the caller. For a user without a person, the response contains
// only the name.
func (h *Handler) GetCurrentUserInfo(ctx context.Context, req *commonsv1.GetCurrentUserInfoRequest) (*commonsv1.CurrentUserInfo, error) {
	caller, _ := authn.From(ctx)
	if caller == nil {
		caller = &authn.Principal{}
	}
	out := &commonsv1.CurrentUserInfo{UserName: caller.Subject}
	zone := h.defaultZone
	persons, err := store.Load(ctx, h.pool, []int64{caller.PersonID})
	if err != nil {
		return nil, err
	}
	if p := persons[caller.PersonID]; p != nil {
		out.EmployeeId, out.PersonNumber = p.ID, p.Number()
		out.FirstName, out.LastName, out.MiddleInitial = p.Details().GetFirstName(), p.Details().GetLastName(), p.Details().GetMiddleInitial()
		out.UserLocale = record.AccessOrEmpty(p.Record).GetLocalePolicyName()
		if req.GetIncludeContactInformation() {
			out.EmailContacts, out.TelephoneContacts, out.PostalAddresses = extension.Contacts(p.Message.GetPersonInformation())
		}
		clocks, err := p.Clocks(h.zones)
		if err != nil {
			return nil, err
		}
		zone = clocks.ZoneAt(h.reader.Now(ctx)).Name()
	}
	out.TimeZone = h.timeZone(ctx, zone)
	return out, nil
}

// FindZone returns the IANA name of the time zone that a person has today. The error is 400 for a person that
// the caller may not see.
func (h *Handler) FindZone(ctx context.Context, person store.Key) (string, error) {
	known, err := h.reader.Load(ctx, []store.Key{person})
	if err != nil {
		return "", err
	}
	p := known[person]
	if p == nil {
		return "", person.NotFound()
	}
	return p.ZoneOn(h.reader.Today(ctx)), nil
}

func (h *Handler) timeZone(ctx context.Context, name string) *commonsv1.CurrentUserTimeZone {
	out := &commonsv1.CurrentUserTimeZone{TimeZoneId: name, DisplayName: name, DateFormat: dateFormat}
	if location, err := tzdb.Load(name); err == nil {
		now := h.reader.Now(ctx).In(location)
		_, seconds := now.Zone()
		out.ShortName, out.GmtOffset = now.Format("MST"), proto.Int32(int32(seconds/60))
	}
	return out
}
