// Package newhire serves NewHireService, which creates persons from the data of a hiring
// system.
package newhire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// Handler serves NewHireService.
type Handler struct {
	commonsv1.UnsafeNewHireServiceServer
	pool   *pg.Pool
	reader *reader.Reader
	writer *writer.Writer
}

// New returns a Handler that creates persons with the writer.
func New(pool *pg.Pool, reader *reader.Reader, writer *writer.Writer) *Handler {
	return &Handler{pool: pool, reader: reader, writer: writer}
}

// CreateNewHires creates persons with their assignments. Each item succeeds or fails
// separately.
func (n *Handler) CreateNewHires(ctx context.Context, req *commonsv1.NewHireList) (*commonsv1.NewHireList, error) {
	hires := make([]*store.NewHire, len(req.GetEmployees()))
	failed := make([]error, len(hires))
	places, err := n.workplaces(ctx, req.GetEmployees())
	if err != nil {
		return nil, err
	}
	caller, known := authn.From(ctx)
	mayWriteWages := !known || caller.IsService() || caller.Has(policy.WagesWrite)
	var persons []*commonsv1.Person
	var kept []*store.NewHire
	var at []int
	for i, in := range req.GetEmployees() {
		if failed[i] = wages.Refuse(in); failed[i] != nil && !mayWriteWages {
			authn.NoteDeniedItem(ctx, fault.CodeWages)
			continue
		}
		if hires[i], failed[i] = readHire(in, places[i]); failed[i] == nil {
			hired := in.GetHireDate()
			if hired == "" {
				hired = n.reader.Today(ctx).String()
			}
			persons, kept, at = append(persons, convertPerson(in, hired)), append(kept, hires[i]), append(at, i)
		}
	}
	if err := n.number(ctx, persons); err != nil {
		return nil, err
	}
	items, err := n.writer.WriteWith(ctx, persons, writer.Create, writer.Related{Hires: kept})
	if err != nil {
		return nil, err
	}
	made := make([]*store.Item, len(hires))
	for i, it := range items {
		made[at[i]], failed[at[i]] = it, it.Err
	}
	out := &bulk.Outcome[*commonsv1.NewHire, *commonsv1.NewHire]{}
	for i, in := range req.GetEmployees() {
		shown := withoutSecrets(in)
		if failed[i] != nil {
			out.Fail(shown, fault.FromError(failed[i]))
			continue
		}
		shown.PersonId, shown.EmployeeNumber = made[i].ID, made[i].Number()
		// The response has numbers, like later reads, even if the request had texts.
		shown.ResidentStateTotalAllowancesClaimedCurrencyAmount = amountValue(hires[i].Resident)
		shown.WorkStateTotalAllowancesClaimedCurrencyAmount = amountValue(hires[i].Work)
		out.Succeed(nil, shown)
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.NewHireList{Employees: done, Failure: failure}, err
}

// wages finds the wages in a new hire.
var wages = policy.NewWages[*commonsv1.NewHire]()

// readHire checks the properties that only new hires have. The new hire works at the given
// workplace.
func readHire(in *commonsv1.NewHire, at workplace) (*store.NewHire, error) {
	if err := checkNewHire(in); err != nil {
		return nil, err
	}
	amounts, err := readAllowances(in, at)
	if err != nil {
		return nil, err
	}
	rest := withoutSecrets(in)
	rest.ResidentStateTotalAllowancesClaimedCurrencyAmount, rest.WorkStateTotalAllowancesClaimedCurrencyAmount = nil, nil
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encode new hire: %w", err)
	}
	return &store.NewHire{Allowances: amounts, Body: body}, nil
}

// withoutSecrets returns a new hire without the properties that must not be stored or shown.
func withoutSecrets(in *commonsv1.NewHire) *commonsv1.NewHire {
	out := proto.CloneOf(in)
	out.Ssn, out.DirectDeposits, out.PersonId = "", nil, 0
	return out
}

// number assigns person numbers to persons without a number.
func (n *Handler) number(ctx context.Context, persons []*commonsv1.Person) error {
	var without []*commonsv1.PersonDetails
	for _, p := range persons {
		if details := p.GetPersonInformation().GetPerson(); details.GetPersonNumber() == "" {
			without = append(without, details)
		}
	}
	if len(without) == 0 {
		return nil
	}
	ids, err := store.NewIDs(ctx, n.pool, len(without))
	for i, id := range ids {
		without[i].PersonNumber = fmt.Sprintf("E%08d", id)
	}
	return err
}

// GetNewHire returns the hiring data of the person with the id in the path.
func (n *Handler) GetNewHire(ctx context.Context, req *commonsv1.GetNewHireRequest) (*commonsv1.NewHire, error) {
	tenantID := tenant.Of(ctx)
	id := req.GetPersonId()
	if err := n.reader.CheckVisible(ctx, id); err != nil {
		return nil, err
	}
	var body []byte
	var number string
	var resident, work *int64
	err := n.pool.QueryRow(ctx, `SELECT p.person_number, n.resident_state_allowances, n.work_state_allowances, n.body
		FROM new_hire n JOIN person p ON p.tenant_id = n.tenant_id AND p.id = n.person_id
		WHERE n.tenant_id = $1 AND n.person_id = $2`, tenantID, id).Scan(&number, &resident, &work, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, reader.NotFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read new hire: %w", err)
	}
	out := &commonsv1.NewHire{}
	if err := proto.Unmarshal(body, out); err != nil {
		return nil, fmt.Errorf("decode new hire %d: %w", id, err)
	}
	out.PersonId, out.EmployeeNumber = id, number
	out.ResidentStateTotalAllowancesClaimedCurrencyAmount, out.WorkStateTotalAllowancesClaimedCurrencyAmount = amountValue(resident), amountValue(work)
	return out, nil
}

func amountValue(amount *int64) *structpb.Value {
	if amount == nil {
		return nil
	}
	return structpb.NewNumberValue(float64(*amount))
}
