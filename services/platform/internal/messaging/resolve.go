package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// recipients are the recipients in a request.
type recipients interface {
	GetRecipients() []int64
	GetRecipientsByPersonNumber() []string
	GetRecipientPersonNums() []string
	GetAdditionalRecipients() []string
}

// resolved contains the persons that a message is about, and the addresses in the request.
type resolved struct {
	employees []*commonsv1.Contact
	managers  map[int64]*commonsv1.Contact
	addresses []string
}

// resolve finds the persons in a request. A person who does not exist, or whom the caller must not see, is an
// error.
func (h *Handler) resolve(ctx context.Context, to recipients, list []*platformv1.GenericNotification) (*resolved, error) {
	req := &commonsv1.ResolveContactsRequest{
		Ids:           slices.Clone(to.GetRecipients()),
		PersonNumbers: slices.Concat(to.GetRecipientsByPersonNumber(), to.GetRecipientPersonNums()),
	}
	for _, number := range req.GetPersonNumbers() {
		if number == "" || strings.ContainsFunc(number, unicode.IsControl) {
			return nil, fault.Invalid(CodeUnknownRecipient, fmt.Sprintf("There is no person with the number %.100q.", number))
		}
	}
	out := &resolved{managers: map[int64]*commonsv1.Contact{}}
	for i, address := range to.GetAdditionalRecipients() {
		if address = strings.TrimSpace(address); !emailaddress.Valid(address) {
			return nil, fault.Invalid(CodeUnknownRecipient, fmt.Sprintf("additionalRecipients[%d] is %.100q, which is not an e-mail address.", i, address))
		}
		out.addresses = append(out.addresses, address)
	}
	if len(req.GetIds())+len(req.GetPersonNumbers()) == 0 {
		return out, nil
	}
	req.Managers = slices.ContainsFunc(list, (*platformv1.GenericNotification).GetSendToEmployeesManager)
	found, err := h.deps.Contacts.ResolveContacts(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("find recipients: %w", err)
	}
	out.employees = found.GetPersons()
	for _, m := range found.GetManagers() {
		out.managers[m.GetPersonId()] = m
	}
	return out, requireFound(req, out.employees)
}

// requireFound refuses persons who were not found.
func requireFound(req *commonsv1.ResolveContactsRequest, found []*commonsv1.Contact) error {
	ids, numbers := map[int64]bool{}, map[string]bool{}
	for _, c := range found {
		ids[c.GetPersonId()], numbers[names.Key(c.GetPersonNumber())] = true, true
	}
	for _, id := range req.GetIds() {
		if !ids[id] {
			return fault.Invalid(CodeUnknownRecipient, fmt.Sprintf("There is no person with the id %d.", id))
		}
	}
	for _, number := range req.GetPersonNumbers() {
		if !numbers[names.Key(number)] {
			return fault.Invalid(CodeUnknownRecipient, fmt.Sprintf("There is no person with the number %.100q.", number))
		}
	}
	return nil
}

// hooks returns the active webhooks.
func (h *Handler) hooks(ctx context.Context) ([]*platformv1.Webhook, error) {
	all, err := pg.Collect(ctx, h.deps.Pool, func(row pgx.CollectableRow) (*platformv1.Webhook, error) {
		var id int64
		var body []byte
		if err := row.Scan(&id, &body); err != nil {
			return nil, err
		}
		w := &platformv1.Webhook{}
		err := proto.Unmarshal(body, w)
		w.Id = &id
		return w, err
	}, `SELECT id, body FROM webhook WHERE tenant_id = $1 ORDER BY id`, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return slices.DeleteFunc(all, func(w *platformv1.Webhook) bool { return !w.GetActive() }), nil
}
