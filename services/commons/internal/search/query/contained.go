package query

import (
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// MaxNested is the maximum number of levels of contained queries below a query.
const MaxNested = 5

// Contained are the constraints of stored queries, by id.
type Contained map[int64]*commonsv1.HyperfindConstraints

// memberNode returns the node of the persons that one of the queries finds. Filters of contained queries
// count towards the limits of the whole query, because one statement has all of them.
func (r *reader) memberNode(path string, ids []int64) (*Node, error) {
	if r.level == MaxNested {
		return nil, fault.Invalid(CodeNested, fmt.Sprintf("Queries contain each other on more than %d levels. "+
			"Copy the constraints of the innermost ones instead.", MaxNested))
	}
	out := &Node{any: true}
	for i, id := range ids {
		constraints, known := r.contained[id]
		if !known {
			continue
		}
		status := r.status
		r.level, r.status = r.level+1, false
		part, err := r.persons(fmt.Sprintf("%s.refs[%d]", path, i), constraints)
		if err != nil {
			return nil, err
		}
		r.level, r.status = r.level-1, r.status || status
		out.parts = append(out.parts, part)
	}
	if len(out.parts) == 0 {
		return Persons([]int64{}), nil
	}
	return out, nil
}

// ContainedRefs returns the references to queries in constraints, in their order. A change of one changes
// the constraints.
func ContainedRefs(constraints *commonsv1.HyperfindConstraints) (refs []*commonv1.Ref) {
	for _, f := range constraints.GetFilters() {
		refs = append(refs, ContainedRefs(f.GetConstraints())...)
		if strings.EqualFold(f.GetKey(), KeyHyperfind) {
			refs = append(refs, f.GetRefs()...)
		}
	}
	return refs
}
