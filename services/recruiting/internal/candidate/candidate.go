package candidate

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Handler serves CandidateService, CandidateListService and CandidateDocumentService.
type Handler struct {
	recruitingv1.UnsafeCandidateServiceServer
	recruitingv1.UnsafeCandidateListServiceServer
	recruitingv1.UnsafeCandidateDocumentServiceServer

	pool     *pg.Pool
	persons  *record.Persons
	contacts commonsv1.ContactServiceClient
	visible  []Condition
}

var (
	_ recruitingv1.CandidateServiceServer         = (*Handler)(nil)
	_ recruitingv1.CandidateListServiceServer     = (*Handler)(nil)
	_ recruitingv1.CandidateDocumentServiceServer = (*Handler)(nil)
)

// New returns a Handler. Commons is a connection to the service of persons. A caller with restricted rows
// sees the candidates that one of the conditions permits, and those that they created.
func New(pool *pg.Pool, commons grpc.ClientConnInterface, visible ...Condition) *Handler {
	return &Handler{pool: pool, persons: record.NewPersons(commons), contacts: commonsv1.NewContactServiceClient(commons), visible: visible}
}

// ListCandidates returns a page of the candidates that the caller may see.
func (h *Handler) ListCandidates(ctx context.Context, req *recruitingv1.ListCandidatesRequest) (*recruitingv1.CandidateList, error) {
	list, err := Candidates.List(ctx, h.pool, req, Visible(ctx, h.visible...))
	if err != nil {
		return nil, err
	}
	out, shown := &recruitingv1.CandidateList{}, map[string]*candidate{}
	for _, r := range list {
		c := show(r)
		out.Items, shown[r.ID] = append(out.Items, c), c
	}
	return out, Profiles(ctx, h.pool, shown)
}

// GetCandidate returns one candidate, or 404.
func (h *Handler) GetCandidate(ctx context.Context, req *byID) (*candidate, error) {
	r, err := h.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	c := show(r)
	return c, Profiles(ctx, h.pool, map[string]*candidate{r.ID: c})
}

// get returns a candidate that the caller may see, or 404.
func (h *Handler) get(ctx context.Context, id string) (*record.Record[*candidate], error) {
	return Candidates.Get(ctx, h.pool, id, Visible(ctx, h.visible...))
}

// CreateCandidate stores a new candidate.
func (h *Handler) CreateCandidate(ctx context.Context, c *candidate) (*candidate, error) {
	if err := prepare(c); err != nil {
		return nil, err
	}
	if _, err := h.persons.Resolve(ctx, map[string]string{"person_id": c.GetPersonId()}); err != nil {
		return nil, err
	}
	columns := record.Columns{
		"email": strings.ToLower(c.GetContactInfo().GetEmail()), "person_id": number(c.GetPersonId()), "creator_id": number(record.Caller(ctx)),
	}
	withLists := takeProfile(c)
	var out *candidate
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		found := fault.List{}
		if !found.Add(resolveName(ctx, tx, c.GetName())) {
			return found.Err()
		}
		r, err := Candidates.Insert(ctx, tx, c, columns)
		if err != nil {
			return fault.Join(found.Err(), err)
		}
		if found.Add(insertProfile(ctx, tx, r.ID, withLists)); found.Err() != nil {
			return found.Err()
		}
		out = show(r)
		return Profiles(ctx, tx, map[string]*candidate{r.ID: out})
	})
	switch {
	case pgerr.IsUnique(err, "candidate_email"):
		err = fault.Conflict(CodeEmailTaken, "Another candidate has this e-mail address. Look it up with candidates-lookup.").WithMembers("contact_info.email")
	case pgerr.IsUnique(err, "candidate_person"):
		err = fault.Conflict(CodePersonTaken, "Another candidate is this person. Use that candidate.").WithMembers("person_id")
	}
	return out, err
}

// BecomeInternal makes a candidate that tx has locked the employee that a hire has created. A candidate that was one
// already stays the same employee.
func BecomeInternal(ctx context.Context, tx pgx.Tx, r *record.Record[*candidate], personID int64) error {
	if r.Body.GetIsInternal() {
		return nil
	}
	r.Body.PersonId, r.Body.IsInternal = record.PersonGUID(personID), proto.Bool(true)
	_, err := Candidates.Update(ctx, tx, r.ID, r.Body, record.Columns{"person_id": personID})
	return err
}

// resolveName checks the prefix and the suffix of a name, and writes their ids and names into it.
func resolveName(ctx context.Context, tx pgx.Tx, name *recruitingv1.CandidateName) error {
	found := fault.List{}
	if name.GetPrefix() != nil {
		_, _, err := configuration.Prefix.Resolve(ctx, tx, "name.prefix", name.GetPrefix())
		found.Add(err)
	}
	if name.GetSuffix() != nil && !found.Stopped() {
		_, _, err := configuration.Suffix.Resolve(ctx, tx, "name.suffix", name.GetSuffix())
		found.Add(err)
	}
	return found.Err()
}

// number returns the id of the person with a GUID, or nil without one.
func number(guid string) *int64 {
	if id, ok := record.PersonID(guid); ok {
		return &id
	}
	return nil
}
