// Package cursor reads and writes the cursors of lists in pages. A cursor is the key of the last row
// of a page, in an order that never changes, such as the order of the ids. The next page begins after
// that key, so rows that are created, deleted or renamed between two pages do not move the others: a
// list returns each row that exists the whole time exactly once. Pages by number cannot guarantee that.
//
// Requests have the text "after": "" for the first page, and then the cursor of the previous response.
// Responses have the next cursor as "next" or, if they are bare arrays, in the header Link.
package cursor

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// CodeUnknown (400): the value of after is not a cursor of this list. Send "" for the first page, and then the cursor of each response.
	CodeUnknown = "WRL-00440"
	// CodeOtherRequest (400): the cursor in after belongs to a request with other values. Keep all values but count from page to page.
	CodeOtherRequest = "WRL-00441"
	// CodeTwoPages (400): the request names a page by after and by its number. Send one of them.
	CodeTwoPages = "WRL-00442"
)

// maxText is the largest number of characters of a cursor: names are at most a few hundred characters.
const maxText = 4096

// digestSize is the number of bytes of a cursor that identify its request.
const digestSize = 8

// Query names a page of a list whose rows have keys of type K: numbers, texts, or structs of them with
// exported fields.
type Query[K any] struct {
	// After is the key of the last row of the previous page. It is nil on the first page.
	After  *K
	digest []byte
}

// Request is a request of a list in pages.
type Request interface {
	proto.Message
	// GetAfter returns the text of the cursor.
	GetAfter() string
}

// Read returns the page that a request names by a cursor, or nil if it has no "after". The request may
// not have any of the other fields that name a page or a row in the list by its number. Neither these nor
// "after" and "count" belong to the values that stay the same from page to page.
//
// Its errors are 400, with one of the codes of this package.
func Read[K any](req Request, numbers ...protoreflect.Name) (*Query[K], error) {
	m := proto.Clone(req).ProtoReflect()
	after := field(m, "after")
	if !m.Has(after) {
		return nil, nil
	}
	for _, name := range numbers {
		if fd := field(m, name); m.Has(fd) {
			return nil, TwoPages(fd.JSONName())
		}
	}
	for _, name := range []protoreflect.Name{"after", "count", "per_page"} {
		if fd := m.Descriptor().Fields().ByName(name); fd != nil {
			m.Clear(fd)
		}
	}
	digest, err := requestDigest(m.Interface())
	if err != nil {
		return nil, err
	}
	q := &Query[K]{digest: digest}
	if req.GetAfter() == "" {
		return q, nil
	}
	return q, q.parse(req.GetAfter())
}

// TwoPages returns the error for a request with "after" and the number of a page or a row in the property.
func TwoPages(property string) error {
	return fault.Invalid(CodeTwoPages, fmt.Sprintf("The request has both after and %s. Send after for pages by cursor, or %s for pages by number.", property, property)).
		WithMembers("after", property)
}

func field(m protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	fd := m.Descriptor().Fields().ByName(name)
	if fd == nil {
		panic(fmt.Sprintf("cursor: %s has no field %s", m.Descriptor().FullName(), name))
	}
	return fd
}

// requestDigest identifies a request, and the kind of the request.
func requestDigest(req proto.Message) ([]byte, error) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode the request of a cursor: %w", err)
	}
	sum := sha256.Sum256(append([]byte(req.ProtoReflect().Descriptor().FullName()+"\x00"), text...))
	return sum[:digestSize], nil
}

// parse reads the key in a cursor.
func (q *Query[K]) parse(text string) error {
	unknown := fault.Invalid(CodeUnknown, `after is not a cursor of this list. Send "" for the first page, and then the cursor of each response, unchanged.`).WithMembers("after")
	if len(text) > maxText {
		return unknown
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(decoded) <= digestSize {
		return unknown
	}
	decoder := json.NewDecoder(bytes.NewReader(decoded[digestSize:]))
	decoder.DisallowUnknownFields()
	key := new(K)
	if err := decoder.Decode(key); err != nil || q.text(*key, decoded[:digestSize]) != text {
		return unknown
	}
	if !bytes.Equal(decoded[:digestSize], q.digest) {
		return fault.Invalid(CodeOtherRequest, `after is the cursor of a request with other values. Repeat the values of that request, or send "" for the first page.`).WithMembers("after")
	}
	q.After = key
	return nil
}

// Next returns the cursor of the page after the row with this key.
func (q *Query[K]) Next(last K) string { return q.text(last, q.digest) }

// text encodes a key. Keys consist of numbers and texts, so encoding cannot fail.
func (q *Query[K]) text(key K, digest []byte) string {
	encoded, err := json.Marshal(key)
	if err != nil {
		panic(fmt.Sprintf("cursor: a key of type %T: %v", key, err))
	}
	return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(digest), encoded...))
}
