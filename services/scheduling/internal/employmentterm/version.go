package employmentterm

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

type termVersion = schedulingv1.EmploymentTermVersion

// edit adds or changes a version of a term.
type edit struct {
	path    string
	termID  int64
	version *termVersion
	apply   func(term *schedulingv1.EmploymentTerm, path string, sent *termVersion) (*termVersion, error)
}

// UpsertEmploymentTermVersions changes and adds versions of terms, all or none. It returns the
// terms in the order of their first appearance.
func (h *Handler) UpsertEmploymentTermVersions(ctx context.Context, req *schedulingv1.UpsertEmploymentTermVersionsRequest) (*schedulingv1.EmploymentTermList, error) {
	edits, err := parseEdits(req.GetChanges())
	if err != nil {
		return nil, err
	}
	var out *schedulingv1.EmploymentTermList
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out, err = upsertVersions(ctx, tx, edits, req.GetReturnAllVersions())
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// parseEdits parses a request, with changes before additions.
func parseEdits(changes *schedulingv1.EmploymentTermVersionChanges) ([]edit, error) {
	var edits []edit
	for i, c := range changes.GetUpdate() {
		edits = append(edits, edit{fmt.Sprintf("update[%d]", i), c.GetId(), c.GetEmploymentTermVersion(), changeVersion})
	}
	for i, c := range changes.GetAdd() {
		edits = append(edits, edit{fmt.Sprintf("add[%d]", i), c.GetId(), c.GetEmploymentTermVersion(), addVersion})
	}
	if len(edits) == 0 {
		return nil, fault.Invalid(CodeNothing, "Give versions to add or to update.")
	}
	for _, e := range edits {
		switch {
		case e.termID == 0:
			return nil, fault.Invalid(CodeIncomplete, e.path+".id is missing: the id of the employment term.")
		case e.version.GetStartDate() == "":
			return nil, fault.Invalid(CodeIncomplete, e.path+".employmentTermVersion.startDate is missing.")
		}
	}
	return edits, nil
}

func upsertVersions(ctx context.Context, tx pgx.Tx, edits []edit, all bool) (*schedulingv1.EmploymentTermList, error) {
	var ids []int64
	for _, e := range edits {
		if !slices.Contains(ids, e.termID) {
			ids = append(ids, e.termID)
		}
	}
	rows, err := lockByIDs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	written := map[*termVersion]bool{}
	for _, e := range edits {
		r, ok := rows[e.termID]
		if !ok {
			return nil, fault.Invalid(CodeUnknownID, fmt.Sprintf("%s.id: there is no employment term with id %d.", e.path, e.termID))
		}
		v, err := e.apply(r.term, e.path, e.version)
		if err != nil {
			return nil, err
		}
		written[v] = true
	}
	out := &schedulingv1.EmploymentTermList{}
	for _, id := range ids {
		term := rows[id].term
		if err := checkVersions(term.GetVersions().GetEmploymentTermVersion()); err != nil {
			return nil, err
		}
		stored := proto.CloneOf(term)
		stored.Id = 0
		r, err := update(ctx, tx, id, stored)
		if err != nil {
			return nil, err
		}
		if err := outbox.Append(ctx, tx, r.changedEvent(false)); err != nil {
			return nil, err
		}
		if !all {
			term.Versions.EmploymentTermVersion = slices.DeleteFunc(term.Versions.EmploymentTermVersion, func(v *termVersion) bool { return !written[v] })
		}
		out.EmploymentTerms = append(out.EmploymentTerms, term)
	}
	return out, nil
}

// changeVersion merges the sent properties into the version with the sent start date.
func changeVersion(term *schedulingv1.EmploymentTerm, path string, sent *termVersion) (*termVersion, error) {
	start, err := parseStart(path, sent)
	if err != nil {
		return nil, err
	}
	for _, v := range term.GetVersions().GetEmploymentTermVersion() {
		if v.GetStartDate() != start.String() {
			continue
		}
		// Replace references as a whole, so that the name of the old reference does not remain.
		sent.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			v.ProtoReflect().Set(field, value)
			return true
		})
		return v, nil
	}
	return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("%s: employment term %d has no version from %s on. Add one.", path, term.GetId(), start))
}

// addVersion adds a version to the term. Existing versions give up the days of the new one. It is
// an error if one of them would have no days left.
func addVersion(term *schedulingv1.EmploymentTerm, path string, sent *termVersion) (*termVersion, error) {
	if sent.GetEndDate() == "" {
		sent.EndDate = civil.Forever.String()
	}
	days, err := versionDays(sent)
	if err != nil {
		return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("%s.employmentTermVersion: %s", path, err))
	}
	sent.StartDate, sent.EndDate = days.From.String(), days.To.String()
	versions := term.GetVersions().GetEmploymentTermVersion()
	for _, v := range slices.Clone(versions) {
		existing, err := versionDays(v)
		if err != nil || !existing.Overlaps(days) {
			continue
		}
		if days.Covers(existing) {
			return nil, fault.Invalid(CodeExists, fmt.Sprintf("%s: employment term %d has a version from %s to %s, on days of the new one. Update it instead.",
				path, term.GetId(), existing.From, existing.To))
		}
		switch rest := proto.CloneOf(v); {
		case existing.From >= days.From:
			v.StartDate = days.To.String()
		case existing.To > days.To:
			rest.StartDate = days.To.String()
			versions = append(versions, rest)
			fallthrough
		default:
			v.EndDate = days.From.String()
		}
	}
	if term.Versions == nil {
		term.Versions = &schedulingv1.EmploymentTermVersions{}
	}
	term.Versions.EmploymentTermVersion = append(versions, sent)
	return sent, nil
}

func parseStart(path string, sent *termVersion) (civil.Date, error) {
	start, err := civil.ParseDate(sent.GetStartDate())
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.employmentTermVersion.startDate: %s.", path, err))
	}
	return start.Clamp(), nil
}
