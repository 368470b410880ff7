package tagdefinition

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupuse"
)

// keepFormer keeps the stored name of a definition that gets another name, because schedules, patterns and
// templates refer to it by the stored name.
func keepFormer(ctx context.Context, tx pgx.Tx, id int64, d *schedulingv1.TagDefinition) error {
	if id == 0 {
		return nil
	}
	stored, err := Kind().GetForUpdate(ctx, tx, id)
	if err != nil || stored.GetName() == d.GetName() {
		return err
	}
	return setupref.KeepFormer(ctx, tx, setupref.TagDefinition, id, stored.GetName(), d.GetName())
}

// checkFree returns an error if patterns or templates refer to another definition by a name that was just
// stored. It runs after the name is stored, so that a change of the other definition is committed or waits.
func checkFree(ctx context.Context, tx pgx.Tx, _, stored *schedulingv1.TagDefinition) error {
	owner, err := setupref.FormerOwner(ctx, tx, setupref.TagDefinition, stored.GetId(), stored.GetName())
	if err != nil || owner == "" {
		return err
	}
	user, err := setupuse.Find(ctx, tx, setupref.TagDefinition, 0, stored.GetName())
	if err != nil || user == "" {
		return err
	}
	return fault.Invalid(CodeTaken, fmt.Sprintf(
		"%s refers to the tag definition %q by this former name. Change that first, or choose another name.", user, owner)).WithMembers("name")
}

// checkUnused returns an error if schedules, patterns or templates refer to a definition, by its id or by a
// name that it has or had.
func checkUnused(ctx context.Context, tx pgx.Tx, d *schedulingv1.TagDefinition) error {
	names, err := setupref.FormerNames(ctx, tx, setupref.TagDefinition, d.GetId())
	if err != nil {
		return err
	}
	for _, name := range append(names, d.GetName()) {
		user, err := setupuse.Find(ctx, tx, setupref.TagDefinition, d.GetId(), name)
		if err != nil {
			return err
		}
		if user != "" {
			return Kind().InUseError(user, d)
		}
	}
	return nil
}

// deleteFormer deletes the former names of a deleted definition.
func deleteFormer(ctx context.Context, tx pgx.Tx, d *schedulingv1.TagDefinition, _ int64) error {
	return setupref.DeleteFormer(ctx, tx, setupref.TagDefinition, d.GetId())
}
