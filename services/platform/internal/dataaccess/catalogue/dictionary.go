package catalogue

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// Dictionary serves DataDictionaryService.
type Dictionary struct {
	platformv1.UnsafeDataDictionaryServiceServer

	Catalogue *Catalogue
	Types     commonsv1.LocationTypeServiceClient
}

var _ platformv1.DataDictionaryServiceServer = (*Dictionary)(nil)

// ListDataElements returns all elements, sorted by key.
func (d *Dictionary) ListDataElements(ctx context.Context, _ *platformv1.ListDataElementsRequest) (*platformv1.DataElementDefinitionList, error) {
	out := &platformv1.DataElementDefinitionList{}
	for _, e := range d.Catalogue.Elements(ctx).all() {
		out.Elements = append(out.Elements, e.definition())
	}
	return out, nil
}

// MultiReadDataElements returns elements by their keys.
func (d *Dictionary) MultiReadDataElements(ctx context.Context, req *platformv1.MultiReadDataElementsRequest) (*platformv1.DataElementDefinitionList, error) {
	known := d.Catalogue.Elements(ctx)
	out := &platformv1.DataElementDefinitionList{}
	for _, key := range req.GetKeys() {
		e, err := known.Find(key)
		if err != nil {
			return nil, err
		}
		out.Elements = append(out.Elements, e.definition())
	}
	return out, nil
}

// MultiUpsertDataElements confirms definitions, and refuses those that differ from the built-in ones.
func (d *Dictionary) MultiUpsertDataElements(ctx context.Context, req *platformv1.DataElementDefinitionList) (*platformv1.DataElementDefinitionList, error) {
	known := d.Catalogue.Elements(ctx)
	out := &platformv1.DataElementDefinitionList{}
	for _, asked := range req.GetElements() {
		e, err := known.Find(asked.GetKey())
		if err != nil {
			return nil, err
		}
		definition := e.definition()
		// Properties that are not sent stay unchanged.
		same := proto.CloneOf(definition)
		if proto.Merge(same, withoutLists(asked)); !proto.Equal(same, definition) || !sameLists(asked, definition) {
			return nil, errcode.Invalid(errcode.CodeBadRequest, "The definition of %s is part of the product and cannot be changed.", asked.GetKey())
		}
		out.Elements = append(out.Elements, definition)
	}
	return out, nil
}

// withoutLists returns a definition without its lists, because a merge would append to them.
func withoutLists(d *platformv1.DataElementDefinition) *platformv1.DataElementDefinition {
	out := proto.CloneOf(d)
	out.Categories, out.CellLevelActions, out.Properties = nil, nil, nil
	if m := out.GetMetadata(); m != nil {
		m.Views, m.Facp, m.Licenses = nil, nil, nil
	}
	return out
}

// sameLists reports whether the lists that were sent equal those in the definition.
func sameLists(asked, known *platformv1.DataElementDefinition) bool {
	sent := proto.CloneOf(asked)
	if sent.Metadata == nil {
		sent.Metadata = &platformv1.DataElementMetadata{}
	}
	equal := func(a, b []string) bool { return len(a) == 0 || slices.Equal(a, b) }
	return equal(sent.Categories, known.Categories) && equal(sent.CellLevelActions, known.CellLevelActions) &&
		(len(sent.Metadata.Views) == 0 || slices.Equal(sent.Metadata.Views, known.Metadata.Views)) &&
		equal(sent.Metadata.Facp, known.Metadata.Facp) && equal(sent.Metadata.Licenses, known.Metadata.Licenses) &&
		(len(sent.Properties) == 0 || slices.EqualFunc(sent.Properties, known.Properties, func(a, b *platformv1.DataProperty) bool { return proto.Equal(a, b) }))
}

// ListDataLocationTypes returns the location types that rollupBy accepts, each with its id, name and persistent
// id.
func (d *Dictionary) ListDataLocationTypes(ctx context.Context, _ *platformv1.ListDataLocationTypesRequest) (*platformv1.DataLocationTypeList, error) {
	known, err := d.Types.ListLocationTypes(ctx, &commonsv1.ListLocationTypesRequest{})
	if err != nil {
		return nil, err
	}
	out := &platformv1.DataLocationTypeList{}
	for _, t := range known.GetLocationTypes() {
		out.LocationTypes = append(out.LocationTypes, &platformv1.DataProperty{
			Key: strconv.FormatInt(t.GetId(), 10), Value: t.GetName(), SdmKey: t.GetPersistentId(),
		})
	}
	return out, nil
}

// ListDataTimeIncrements returns the increments of time series.
func (d *Dictionary) ListDataTimeIncrements(context.Context, *platformv1.ListDataTimeIncrementsRequest) (*platformv1.DataTimeIncrementList, error) {
	out := &platformv1.DataTimeIncrementList{}
	for i, name := range query.IncrementNames {
		increment := &platformv1.DataTimeIncrement{TimeIncrement: name}
		forms := query.LabelForms()
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			if slices.Contains(forms[form], query.Increment(i)) {
				increment.Formatters = append(increment.Formatters, string(form))
			}
		}
		out.TimeIncrements = append(out.TimeIncrements, increment)
	}
	return out, nil
}

// GetDataDictionaryMetadata returns the possible values of the parts of definitions.
func (d *Dictionary) GetDataDictionaryMetadata(ctx context.Context, req *platformv1.GetDataDictionaryMetadataRequest) (*platformv1.DataDictionaryMetadata, error) {
	if req.GetSelect() == "" {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "select is missing. Name the parts to return.")
	}
	known := d.Catalogue.Elements(ctx)
	out := &platformv1.DataDictionaryMetadata{}
	for name := range strings.SplitSeq(req.GetSelect(), ",") {
		if !known.describe(out, strings.ToLower(strings.TrimSpace(name))) {
			return nil, fault.Invalid(errcode.CodeBadRequest, suggest.NotOneOf("select", name, "dataTypes", "views", "sortingPolicies", "roundingpolicies",
				"formattingPolicies", "categories", "dataProviders", "entityDefinitions"))
		}
	}
	return out, nil
}

// describe adds a part to the response. It returns false for an unknown name.
func (e *Elements) describe(out *platformv1.DataDictionaryMetadata, name string) bool {
	collect := func(values func(*platformv1.DataElementDefinition) []string) *platformv1.DataNames {
		names := map[string]bool{}
		for _, one := range e.byKey {
			for _, n := range values(one.definition()) {
				names[n] = true
			}
		}
		return &platformv1.DataNames{Names: slices.Sorted(maps.Keys(names))}
	}
	switch name {
	case "datatypes":
		out.DataTypes = collect(func(d *platformv1.DataElementDefinition) []string { return []string{d.GetMetadata().GetDataType()} })
	case "views":
		out.Views = &platformv1.DataNames{}
		for _, v := range query.Views() {
			out.Views.Names = append(out.Views.Names, numeral(v.Number))
		}
	case "sortingpolicies":
		out.SortPolicies = collect(func(d *platformv1.DataElementDefinition) []string {
			return []string{d.GetMetadata().GetDisplayPolicy().GetSort()}
		})
	case "roundingpolicies":
		out.RoundingPolicies = &platformv1.DataNames{Names: []string{roundHalfUp}}
	case "formattingpolicies":
		out.FormattingPolicies = &platformv1.DataNames{Names: []string{formatDefault}}
	case "categories":
		out.Categories = collect(func(d *platformv1.DataElementDefinition) []string { return d.GetCategories() })
	case "dataproviders":
		out.DataProviders = collect(func(d *platformv1.DataElementDefinition) []string { return []string{d.GetDataProvider()} })
	case "entitydefinitions":
		out.EntityDefinitions = collect(func(d *platformv1.DataElementDefinition) []string { return []string{d.GetMetadata().GetEntity()} })
	default:
		return false
	}
	return true
}

const (
	formatDefault = "DEFAULT"
	// roundHalfUp is the number of a rounding policy.
	roundHalfUp = "4"
)

// numeral returns a number in the dictionary's text form.
func numeral(n int32) string { return strconv.FormatInt(int64(n), 10) }

// sortPolicy returns the sorting policy for a type.
func sortPolicy(t dataelement.Type) string {
	switch t {
	case dataelement.String:
		return "STRING_SORT"
	case dataelement.Number, dataelement.Long:
		return "NUMBER_SORT"
	}
	return "DEFAULT"
}

// definition returns the definition of an element. An element of employees and of locations belongs to PEOPLE.
func (b byKind) definition() *platformv1.DataElementDefinition {
	e := b[0]
	dataType := e.GetType()
	entity := "LOCATION"
	var numbers []string
	for _, v := range query.Views() {
		if b.Of(v.Kind) != nil {
			numbers = append(numbers, numeral(v.Number))
		}
		if v.OfEmployees() && b.Of(v.Kind) != nil {
			entity = "PEOPLE"
		}
	}
	meta := &platformv1.DataElementMetadata{
		DataType: typeName(dataType), Views: numbers, Entity: entity,
		DisplayPolicy: &platformv1.DataDisplayPolicy{Sort: sortPolicy(dataType), Format: formatDefault},
	}
	if dataType == dataelement.Number {
		meta.DisplayPolicy.Round, meta.DisplayPolicy.Scale = roundHalfUp, proto.Int32(2)
	}
	if dataType == dataelement.Number || dataType == dataelement.Long {
		meta.Summarizable = proto.Bool(true)
	}
	out := &platformv1.DataElementDefinition{
		Key: e.GetKey(), Label: e.GetLabel(), Description: e.GetDescription(), Active: proto.Bool(true), Deprecated: proto.Bool(false),
		Categories: e.GetCategories(), DataProvider: providerName(e.Provider.GetName()), Metadata: meta,
	}
	for _, p := range e.GetProperties() {
		meta.Parameterized = proto.Bool(true)
		out.Properties = append(out.Properties, &platformv1.DataProperty{Key: p.GetKey(), Value: p.GetDescription()})
	}
	return out
}

// typeName returns the name of a type in the dictionary. Programs know one type of numbers.
func typeName(t dataelement.Type) string {
	if t == dataelement.Long {
		t = dataelement.Number
	}
	return strings.TrimPrefix(t.String(), "DATA_TYPE_")
}

// providerName returns the name of a provider in the dictionary. Clients know the provider of timecards
// as TK.
func providerName(name string) string {
	if name == "TIMECARD" {
		return "TK"
	}
	return name
}
