// Package brazil keeps the setup that the Brazilian law on time records requires: time clocks
// (REP), device groups, and companies with their groups.
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
	// CodeInvalid: a value is missing or not allowed.
	CodeInvalid = "WTK-181604"
	// CodeTooLong: a text has too many characters.
	CodeTooLong = "WTK-181605"
	// CodeTaken: another device, group or company has the name, the identifier or the serial number.
	// Choose another one.
	CodeTaken = "WTK-181606"
	// CodeOtherGroup: a device belongs to another group. Remove it from that group first.
	CodeOtherGroup = "WTK-181613"
)

// Our own codes.
const (
	// CodeUnknown (400, 404): the device, group, company or file does not exist.
	CodeUnknown = "WRL-20601"
	// CodeInUse (400): the item to delete is in use. Remove the references to it first.
	CodeInUse = "WRL-20602"
	// CodeOtherCompany (400): the group belongs to another company.
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

// identifier returns an identifier of digits, padded to its length, or "" if none is given.
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
	return padIdentifier(text, length), nil
}

// readRefs returns refs by id. Its SQL statement returns rows of an id of ours, and the id and the
// name of a referenced object.
func readRefs(ctx context.Context, db pg.Querier, sql string, args ...any) (map[int64][]*commonv1.Ref, error) {
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

// showRefs reads references with a statement as in readRefs, and calls set for each object that has
// references.
func showRefs[T interface{ GetId() int64 }](ctx context.Context, pool *pg.Pool, sql string, list []T, set func(thing T, refs []*commonv1.Ref)) error {
	tenantID := tenant.Of(ctx)
	ids := make([]int64, len(list))
	for i, thing := range list {
		ids[i] = thing.GetId()
	}
	refs, err := readRefs(ctx, pool, sql, tenantID, ids)
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

// filterUnassigned keeps only the objects without a reference, if the request selects them.
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
