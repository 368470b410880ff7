// Package contact gives other services the contact addresses of persons and of their
// managers.
package contact

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Handler serves ContactService.
type Handler struct {
	commonsv1.UnsafeContactServiceServer
	pool  *pg.Pool
	rules *rowvisibility.Rules
}

var _ commonsv1.ContactServiceServer = (*Handler)(nil)

// New returns a Handler that finds only persons who are visible under the rules.
func New(pool *pg.Pool, rules *rowvisibility.Rules) *Handler {
	return &Handler{pool: pool, rules: rules}
}

// read finds contacts. An address without a notification setting receives notifications.
const read = `
SELECT p.id, p.person_number, p.full_name, p.locale_policy_name, coalesce(m.id, 0), p.user_name,
    ARRAY(SELECT e.address FROM email_address e
        WHERE e.tenant_id = p.tenant_id AND e.person_id = p.id AND e.address <> '' AND e.notification IS DISTINCT FROM false
        ORDER BY e.contact_type_name)
FROM person p
LEFT JOIN person m ON m.tenant_id = p.tenant_id AND m.person_number = p.supervisor_person_number AND p.supervisor_person_number <> ''
WHERE p.tenant_id = $1 AND (p.id = ANY($2) OR p.id IN (SELECT person_by_number($1, n) FROM unnest($3::text[]) AS n))
ORDER BY p.id`

// ResolveContacts returns the addresses of persons whom the caller may see, and of their
// managers, even if the caller may not see the managers.
func (h *Handler) ResolveContacts(ctx context.Context, req *commonsv1.ResolveContactsRequest) (*commonsv1.ResolveContactsResponse, error) {
	visible, err := h.rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := h.find(ctx, req.GetIds(), req.GetPersonNumbers())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.ResolveContactsResponse{}
	var managers []int64
	for _, c := range found {
		if !visible.Has(c.GetPersonId()) {
			continue
		}
		out.Persons = append(out.Persons, c)
		if c.GetManagerId() != 0 {
			managers = append(managers, c.GetManagerId())
		}
	}
	if req.GetManagers() && len(managers) > 0 {
		out.Managers, err = h.find(ctx, managers, nil)
	}
	return out, err
}

func (h *Handler) find(ctx context.Context, ids []int64, numbers []string) ([]*commonsv1.Contact, error) {
	found, err := pg.Collect(ctx, h.pool, func(row pgx.CollectableRow) (*commonsv1.Contact, error) {
		c := &commonsv1.Contact{}
		return c, row.Scan(&c.PersonId, &c.PersonNumber, &c.FullName, &c.Locale, &c.ManagerId, &c.UserName, &c.Addresses)
	}, read, tenant.Of(ctx), ids, numbers)
	if err != nil {
		return nil, fmt.Errorf("find contacts: %w", err)
	}
	return found, nil
}
