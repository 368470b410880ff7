package employmentterm

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// PayRule is the pay rule of a term on a range of days.
type PayRule struct {
	Days civil.Range
	Rule *commonv1.Ref
}

// PayRules returns the pay rules of the versions of terms, by term and in order of their days. It
// omits versions without a pay rule.
func PayRules(ctx context.Context, db pg.Querier, ids []int64) (map[int64][]PayRule, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := findByIDs(ctx, db, ids)
	if err != nil {
		return nil, fmt.Errorf("read pay rules of employment terms: %w", err)
	}
	out := make(map[int64][]PayRule, len(found))
	for id, r := range found {
		for _, v := range r.term.GetVersions().GetEmploymentTermVersion() {
			if v.GetPayRule() == nil {
				continue
			}
			days, err := versionDays(v)
			if err != nil {
				return nil, fmt.Errorf("employment term %d: %w", id, err)
			}
			out[id] = append(out[id], PayRule{Days: days, Rule: v.GetPayRule()})
		}
	}
	return out, nil
}
