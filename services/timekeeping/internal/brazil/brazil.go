// Package brazil keeps what the Brazilian law on time records asks for: the time
// clocks (REP), the groups that they are in, and the companies that have the groups.
package brazil

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Codes of the reference product, with status 400.
const (
	// CodeInvalid: a value is not one that its property may have, or is missing.
	CodeInvalid = "WTK-181604"
	// CodeTooLong: a text has too many characters.
	CodeTooLong = "WTK-181605"
	// CodeTaken: another one has the name, the identifier or the serial number.
	CodeTaken = "WTK-181606"
	// CodeOtherGroup: a device is in another group.
	CodeOtherGroup = "WTK-181613"
)

// Codes of ours.
const (
	// CodeUnknown (400, 404): there is no such device, group, company or file.
	CodeUnknown = "WRL-20601"
	// CodeInUse (400): something refers to what is to be deleted.
	CodeInUse = "WRL-20602"
	// CodeOtherCompany (400): a group belongs to another company.
	CodeOtherCompany = "WRL-20603"
)

const unassigned = "UNASSIGNED"

func codes() setup.Codes {
	return setup.Codes{
		Missing: CodeInvalid, Invalid: CodeInvalid, TooLong: CodeTooLong, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeInvalid, InUse: CodeInUse,
	}
}

func invalid(format string, args ...any) error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// identifier returns an identifier of digits, padded to its length, or "" when it
// is not given.
func identifier(property, given string, length int) (string, error) {
	text := bare(given)
	if text == "" {
		return "", nil
	}
	if len(text) > length {
		return "", fault.Invalid(CodeTooLong, fmt.Sprintf("%s must have at most %d digits.", property, length))
	}
	if !only(text, digits) {
		return "", invalid("%s must have digits only", property)
	}
	return padded(text, length), nil
}

// refsOf reads a statement that returns an id of ours with the id and the name of
// what it refers to.
func refsOf(ctx context.Context, db pg.Querier, sql string, args ...any) (map[int64][]*commonv1.Ref, error) {
	out := map[int64][]*commonv1.Ref{}
	var from, to int64
	var name string
	err := pg.ForEach(ctx, db, []any{&from, &to, &name}, func() error {
		out[from] = append(out[from], &commonv1.Ref{Id: proto.Int64(to), Qualifier: proto.String(name)})
		return nil
	}, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("brazil: read references: %w", err)
	}
	return out, nil
}

// showRefs reads what things refer to by a statement as that of refsOf, and has set write
// the references of each thing that has some.
func showRefs[T interface{ GetId() int64 }](ctx context.Context, pool *pg.Pool, sql string, list []T, set func(thing T, refs []*commonv1.Ref)) error {
	tenantID := tenant.Of(ctx)
	ids := make([]int64, len(list))
	for i, thing := range list {
		ids[i] = thing.GetId()
	}
	refs, err := refsOf(ctx, pool, sql, tenantID, ids)
	if err != nil {
		return err
	}
	for _, thing := range list {
		if of := refs[thing.GetId()]; len(of) > 0 {
			set(thing, of)
		}
	}
	return nil
}

// filterUnassigned returns the things that have no reference, when they are asked
// for.
func filterUnassigned[T any](list []T, selected *string, has func(T) bool) []T {
	if selected == nil || *selected != unassigned {
		return list
	}
	out := list[:0]
	for _, thing := range list {
		if !has(thing) {
			out = append(out, thing)
		}
	}
	return out
}
