package writer

import (
	"context"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// unknownJobs returns the paths of primary jobs, and of jobs of wages and work rules, that the items
// add and that no location has.
func (w *Writer) unknownJobs(ctx context.Context, items []*store.Item) ([]string, error) {
	var paths []string
	for _, it := range store.Valid(items) {
		var accounts []*commonsv1.PrimaryLaborAccount
		var rules []*commonsv1.WageWorkRule
		if it.Old != nil {
			accounts, rules = it.Old.Message.GetJobAssignment().GetPrimaryLaborAccounts(), it.Old.WageRules
		}
		for _, a := range changedElements(it.Message.GetJobAssignment().GetPrimaryLaborAccounts(), accounts) {
			paths = append(paths, a.GetOrganizationPath())
		}
		for _, r := range changedElements(it.WageRules, rules) {
			paths = append(paths, r.GetJob().GetQualifier())
		}
	}
	return locationpath.Unknown(ctx, w.pool, paths)
}
