package devicegroup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// maxPersons is the maximum number of persons on a page.
const maxPersons = 1000

// Handler serves DeviceGroupMemberService.
type Handler struct {
	commonsv1.UnsafeDeviceGroupMemberServiceServer
	pool *pg.Pool
}

var _ commonsv1.DeviceGroupMemberServiceServer = (*Handler)(nil)

// New returns a Handler that reads the database of the pool.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

const (
	listMembers = `
SELECT p.id, p.person_number, p.full_name FROM device_group_member m JOIN person p ON p.tenant_id = $1 AND p.id = m.person_id
WHERE m.tenant_id = $1 AND m.device_group_id = $2 AND m.person_id > $3
  AND NOT EXISTS (SELECT FROM employment_status e
      WHERE e.tenant_id = $1 AND e.person_id = m.person_id AND e.status = $4 AND e.from_date <= $5 AND e.to_date > $5)
ORDER BY m.person_id LIMIT $6`

	listBadges = `
SELECT person_id, badge_number, from_date, to_date FROM badge_assignment
WHERE tenant_id = $1 AND person_id = ANY($2) AND to_date > $3 ORDER BY person_id, from_date, badge_number`
)

// ListDeviceGroupMembers returns a page of the persons of a group.
func (h *Handler) ListDeviceGroupMembers(ctx context.Context, req *commonsv1.ListDeviceGroupMembersRequest) (*commonsv1.ListDeviceGroupMembersResponse, error) {
	tenantID := tenant.Of(ctx)
	day, err := civil.ParseDate(req.GetDay())
	if err != nil || req.GetLimit() < 1 || req.GetLimit() > maxPersons {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The call needs a day and a limit from 1 to %d.", maxPersons))
	}
	out := &commonsv1.ListDeviceGroupMembersResponse{}
	byID := map[int64]*commonsv1.DeviceGroupMember{}
	var ids []int64
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		out.Members, ids = nil, nil
		var m commonsv1.DeviceGroupMember
		if err := pg.ForEach(ctx, tx, []any{&m.PersonId, &m.PersonNumber, &m.FullName}, func() error {
			member := &commonsv1.DeviceGroupMember{PersonId: m.GetPersonId(), PersonNumber: m.GetPersonNumber(), FullName: m.GetFullName()}
			out.Members, ids, byID[m.GetPersonId()] = append(out.Members, member), append(ids, m.GetPersonId()), member
			return nil
		}, listMembers, tenantID, req.GetDeviceGroupId(), req.GetAfterPersonId(), record.StatusTerminated, day, req.GetLimit()); err != nil {
			return err
		}
		var id int64
		var number string
		var from, to civil.Date
		return pg.ForEach(ctx, tx, []any{&id, &number, &from, &to}, func() error {
			byID[id].Badges = append(byID[id].Badges, &commonsv1.MemberBadge{BadgeNumber: number, From: from.String(), To: to.String()})
			return nil
		}, listBadges, tenantID, ids, day)
	})
	if err != nil {
		return nil, fmt.Errorf("list members of a device group: %w", err)
	}
	return out, nil
}

const findMembers = `
SELECT person_id FROM device_group_member WHERE tenant_id = $1 AND device_group_id = $2 AND person_id = ANY($3)`

// FindDeviceGroupMembers finds persons of a group.
func (h *Handler) FindDeviceGroupMembers(ctx context.Context, req *commonsv1.FindDeviceGroupMembersRequest) (*commonsv1.FindDeviceGroupMembersResponse, error) {
	keys := make([]store.Key, len(req.GetKeys()))
	for i, k := range req.GetKeys() {
		if k.GetBadgeNumber() == "" {
			keys[i] = store.Key{Number: k.GetPersonNumber()}
			continue
		}
		day, err := civil.ParseDate(k.GetDay())
		if err != nil {
			return nil, fault.Invalid(fault.CodeDate, fmt.Sprintf("keys[%d].day: %v.", i, err))
		}
		keys[i] = store.Key{Badge: k.GetBadgeNumber(), Day: day}
	}
	found, err := store.FindIDs(ctx, h.pool, keys)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = found[k]
	}
	members := map[int64]bool{}
	var id int64
	if err := pg.ForEach(ctx, h.pool, []any{&id}, func() error {
		members[id] = true
		return nil
	}, findMembers, tenant.Of(ctx), req.GetDeviceGroupId(), ids); err != nil {
		return nil, fmt.Errorf("find members of a device group: %w", err)
	}
	for i, id := range ids {
		if !members[id] {
			ids[i] = 0
		}
	}
	return &commonsv1.FindDeviceGroupMembersResponse{PersonIds: ids}, nil
}

const findUse = `
SELECT p.person_number FROM device_group_member m JOIN person p ON p.tenant_id = $1 AND p.id = m.person_id
WHERE m.tenant_id = $1 AND m.device_group_id = $2 ORDER BY m.person_id LIMIT 1`

// FindDeviceGroupUse returns the number of a person of a group.
func (h *Handler) FindDeviceGroupUse(ctx context.Context, req *commonsv1.FindDeviceGroupUseRequest) (*commonsv1.FindDeviceGroupUseResponse, error) {
	out := &commonsv1.FindDeviceGroupUseResponse{}
	err := h.pool.QueryRow(ctx, findUse, tenant.Of(ctx), req.GetDeviceGroupId()).Scan(&out.PersonNumber)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("find persons of a device group: %w", err)
	}
	return out, nil
}
