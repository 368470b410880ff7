package person

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// MultiReadPersons answers persons in the order asked for. Unknown persons fail
// by themselves; those who are not active are left out when only active ones
// are asked for.
func (h *Handler) MultiReadPersons(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.PersonList, error) {
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.Person]{}
	err := h.each(ctx, req.GetWhere(), func(_ civil.Date, k key, p *stored) {
		if p == nil {
			out.Fail(k.identity(), k.unknown())
			return
		}
		out.Succeed(nil, p.show(p.id, h.today()))
	})
	if err != nil {
		return nil, err
	}
	return personList(ctx, out)
}

// each calls do for the persons that a criterion names, in the order asked for,
// with the snapshot date; with nil for who is unknown.
func (h *Handler) each(ctx context.Context, where *commonsv1.PersonWhere, do func(civil.Date, key, *stored)) error {
	day, err := h.snapshot(where)
	if err != nil {
		return err
	}
	keys, err := readCriterion(where.GetEmployees(), day)
	if err != nil {
		return err
	}
	known, err := h.known(ctx, tenantOf(ctx), keys)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(known))
	for _, p := range known {
		ids = append(ids, p.id)
	}
	passes, err := h.passes(ctx, where.GetHyperFindFilter(), ids)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if p := known[k]; p == nil || passes(p.id) && (!where.GetOnlyActivePerson() || p.activeOn(day)) {
			do(day, k, p)
		}
	}
	return nil
}

// activeOn reports whether a person is active on a day. Without any employment
// status they are.
func (r *record) activeOn(day civil.Date) bool {
	statuses := r.person.GetPersonInformation().GetEmploymentStatusList()
	return len(statuses) == 0 || statusOn(statuses, day, (*commonsv1.EmploymentStatus).GetEmploymentStatusName) == active
}

// statusOn answers the status of a day, "" when there is none.
func statusOn[M dated](list []M, day civil.Date, name func(M) string) string {
	for _, s := range list {
		if rangeOf(datesOf(s)).Contains(day) {
			return name(s)
		}
	}
	return ""
}

// snapshot answers the day that a criterion is about: today unless it says
// otherwise.
func (h *Handler) snapshot(where *commonsv1.PersonWhere) (civil.Date, error) {
	text := where.GetSnapshotDate()
	if long := where.GetSnapshotDateTime(); long != "" {
		text, _, _ = strings.Cut(strings.Replace(long, "T", " ", 1), " ")
	}
	if text == "" {
		return h.today(), nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(CodeSnapshot, fmt.Sprintf("where.snapshotDate: %s.", err))
	}
	return day.Clamp(), nil
}

// MultiReadPersonRefs answers references to persons in the order asked for.
// There is no room for errors in the answer, so an unknown person is one for all.
func (h *Handler) MultiReadPersonRefs(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonv1.RefList, error) {
	out := &commonv1.RefList{}
	err := h.eachBase(ctx, req.GetWhere(), func(k key, b *base) error {
		if b == nil {
			return k.unknown()
		}
		out.Ids, out.Qualifiers = append(out.Ids, b.ID), append(out.Qualifiers, b.Number)
		out.Refs = append(out.Refs, &commonv1.Ref{Id: proto.Int64(b.ID), Qualifier: proto.String(b.Number)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func tenantOf(ctx context.Context) int64 {
	id, _ := tenant.From(ctx)
	return id
}
