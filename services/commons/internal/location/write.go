package location

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/job"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
	"github.com/rotaloom/rotaloom/services/commons/internal/timeline"
)

const (
	// maxText limits texts other than names, in characters.
	maxText = 1000
	// maxID limits the external ids of a location, in characters. An index contains them, and
	// its entries must be shorter than 2,700 bytes.
	maxID = 650
)

// create stores a new location.
func create(ctx context.Context, tx pgx.Tx, given *commonsv1.Location) (*commonsv1.Location, error) {
	if given.NodeId != nil {
		return nil, fault.Invalid(structure.CodeIDGiven, "nodeId must not be sent with a new location.")
	}
	if given.Name == nil {
		return nil, structure.Missing("name")
	}
	days, err := structure.Days(given.GetEffectiveDate(), given.GetExpirationDate())
	if err != nil {
		return nil, err
	}
	say, err := sentChange(ctx, tx, given, days.From)
	if err != nil {
		return nil, err
	}
	id, err := insert(ctx, tx, given.GetPersistentId())
	if err != nil {
		return nil, err
	}
	versions := []timeline.Interval[version]{{Days: days, Value: say(version{body: &commonsv1.Location{}})}}
	if err := replace(ctx, tx, id, versions); err != nil {
		return nil, err
	}
	if err := updatePaths(ctx, tx, id, days); err != nil {
		return nil, err
	}
	return on(ctx, tx, id, days.From)
}

// update changes the sent properties of a location.
func update(ctx context.Context, tx pgx.Tx, given *commonsv1.Location) (*commonsv1.Location, error) {
	if given.NodeId == nil {
		return nil, structure.Missing("nodeId")
	}
	days, err := structure.Days(given.GetEffectiveDate(), given.GetExpirationDate())
	if err != nil {
		return nil, err
	}
	say, err := sentChange(ctx, tx, given, days.From)
	if err != nil {
		return nil, err
	}
	moves := given.Name != nil || given.ParentNodeRef != nil
	return change(ctx, tx, given.GetNodeId(), days, moves, say)
}

// change changes a location on the given days on which it exists, and returns it on the first
// of them. A range that starts before the location does must start at the beginning of time.
// With moves, the places of the location and its descendants are recomputed.
func change(ctx context.Context, tx pgx.Tx, id int64, days civil.Range, moves bool, say func(version) version) (*commonsv1.Location, error) {
	versions, err := history(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, fault.Invalid(structure.CodeUnknown, fmt.Sprintf("There is no location with the id %d.", id))
	}
	life := civil.Range{From: versions[0].Days.From, To: versions[len(versions)-1].Days.To}
	if days.From != civil.Beginning && !life.Contains(days.From) {
		return nil, errNotOnDate(id, days.From)
	}
	if days = days.Intersect(life); days.Empty() {
		return nil, errNotOnDate(id, days.From)
	}
	if err := replace(ctx, tx, id, timeline.Change(versions, days, say)); err != nil {
		return nil, err
	}
	if moves {
		if err := updatePaths(ctx, tx, id, days); err != nil {
			return nil, err
		}
	}
	return on(ctx, tx, id, days.From)
}

// sentChange returns a function that applies the sent properties of a location to a version. Paths
// and names in references are resolved on a day.
func sentChange(ctx context.Context, tx pgx.Tx, given *commonsv1.Location, day civil.Date) (func(version) version, error) {
	if err := check(given); err != nil {
		return nil, err
	}
	parent, err := optional(ctx, tx, "parentNodeRef", given.GetParentNodeRef(), day)
	if err != nil {
		return nil, err
	}
	var typeID, jobID *int64
	if r := given.GetOrgNodeTypeRef(); r != nil {
		if typeID, err = resolveOne(r, "orgNodeTypeRef", func(refs []*commonv1.Ref) ([]int64, error) {
			id, err := locationtype.ResolveOn(ctx, tx, refs[0], day)
			return []int64{id}, err
		}); err != nil {
			return nil, err
		}
	}
	if r := given.GetGenericJobRef(); r != nil {
		if jobID, err = resolveOne(r, "genericJobRef", func(refs []*commonv1.Ref) ([]int64, error) {
			return job.Resolve(ctx, tx, refs, day)
		}); err != nil {
			return nil, err
		}
	}
	return func(v version) version {
		v.updatedAt = nil
		if isTop(given.GetParentNodeRef()) {
			v.parentID = nil
		}
		if given.Name != nil {
			v.name = given.GetName()
		}
		for into, id := range map[**int64]*int64{&v.parentID: parent, &v.typeID: typeID, &v.jobID: jobID} {
			if id != nil {
				*into = id
			}
		}
		if given.ExternalId != nil {
			v.externalID = nil
			if *given.ExternalId != "" {
				v.externalID = given.ExternalId
			}
		}
		body := proto.CloneOf(v.body)
		proto.Merge(body, storedBody(given))
		if given.FullName != nil && given.GetFullName() == v.name {
			body.FullName = nil // The full name of a response follows the name, so it is not stored.
		}
		v.body = body
		return v
	}, nil
}

// storedBody returns the properties of a location that the body of its row stores.
func storedBody(given *commonsv1.Location) *commonsv1.Location {
	return &commonsv1.Location{
		FullName: given.FullName, Description: given.Description, Address: given.Address, Color: given.Color,
		CostCenterRef: given.CostCenterRef, CurrencyRef: given.CurrencyRef, TimezoneRef: given.TimezoneRef,
		Transferable: given.Transferable, DirectWorkPercent: given.DirectWorkPercent, IndirectWorkPercent: given.IndirectWorkPercent,
	}
}

// optional returns the location that a reference names on a day, or nil if the reference is
// missing or names the top of the tree.
func optional(ctx context.Context, tx pgx.Tx, path string, ref *commonv1.Ref, day civil.Date) (*int64, error) {
	if ref == nil || isTop(ref) {
		return nil, nil
	}
	return resolveOne(ref, path, func(refs []*commonv1.Ref) ([]int64, error) {
		return locationpath.Resolve(ctx, tx, refs, day)
	})
}

// resolveOne resolves a single reference.
func resolveOne(ref *commonv1.Ref, path string, resolve func([]*commonv1.Ref) ([]int64, error)) (*int64, error) {
	if err := structure.CheckRef(path, ref); err != nil {
		return nil, err
	}
	ids, err := resolve([]*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return &ids[0], nil
}

// newRef returns a reference with an id and a qualifier, or nil without an id.
func newRef(id *int64, qualifier *string) *commonv1.Ref {
	if id == nil {
		return nil
	}
	return &commonv1.Ref{Id: id, Qualifier: qualifier}
}

// check checks the sent properties of a location.
func check(given *commonsv1.Location) error {
	if given.Name != nil {
		if err := structure.CheckName("name", given.GetName()); err != nil {
			return err
		}
		if strings.Contains(given.GetName(), "/") {
			return structure.Invalid("name", "must not have a slash, which stands between the names of a path")
		}
	}
	for path, text := range fault.InOrder(map[string]string{
		"fullName": given.GetFullName(), "description": given.GetDescription(), "address": given.GetAddress(),
		"color": given.GetColor(), "externalId": given.GetExternalId(), "persistentId": given.GetPersistentId(),
	}) {
		limit := maxText
		if path == "externalId" || path == "persistentId" {
			limit = maxID
		}
		if utf8.RuneCountInString(text) > limit {
			return structure.Invalid(path, "must have at most %d characters", limit)
		}
	}
	for path, percent := range fault.InOrder(map[string]int32{
		"directWorkPercent": given.GetDirectWorkPercent(), "indirectWorkPercent": given.GetIndirectWorkPercent(),
	}) {
		if percent < 0 || percent > 100 {
			return structure.Invalid(path, "must be from 0 to 100")
		}
	}
	return nil
}
