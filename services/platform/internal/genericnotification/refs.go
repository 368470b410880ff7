package genericnotification

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// collectRefs returns the references in a list, which must use exactly one of its kinds.
func collectRefs(list *commonv1.RefList) ([]*commonv1.Ref, error) {
	const path = "where.genericNotifications"
	refs, err := reflist.ExactlyOne(CodeMissing, path, list)
	if err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(CodeMissing, fmt.Sprintf("%s[%d] needs an id or a qualifier.", path, i))
		}
	}
	return refs, nil
}

func refIDs(refs []*commonv1.Ref) (ids []int64) {
	for _, ref := range refs {
		if ref.Id != nil {
			ids = append(ids, ref.GetId())
		}
	}
	return ids
}

func refNames(refs []*commonv1.Ref) (names []string) {
	for _, ref := range refs {
		if ref.Id == nil {
			names = append(names, ref.GetQualifier())
		}
	}
	return names
}

// pick returns the notification of a reference, or nil. The id takes precedence.
func pick(list []*notification, ref *commonv1.Ref) *notification {
	for _, n := range list {
		if ref.Id != nil && n.GetId() == ref.GetId() || ref.Id == nil && strings.EqualFold(n.GetName(), ref.GetQualifier()) {
			return n
		}
	}
	return nil
}

// localize sets the localized texts, and the language in the response header.
func localize(ctx context.Context, list ...*notification) error {
	return acceptlanguage.SetContentLanguage(ctx, setTexts(ctx, list...))
}

// setTexts sets the texts that the caller reads, and returns their language.
func setTexts(ctx context.Context, list ...*notification) (language string) {
	preferences := acceptlanguage.From(ctx)
	for _, n := range list {
		n.Localized = In(n, preferences)
		language = cmp.Or(language, n.GetLocalized().GetLanguage())
	}
	return language
}
