package timecard

import (
	"context"
	"maps"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// exceptionNames are the display names of the exceptions in languages other than English, in the
// order of their ids.
var exceptionNames = map[string][]string{
	"de": {"Fehlende Kommen-Buchung", "Fehlende Gehen-Buchung", "Zu früh gekommen", "Zu spät gekommen", "Zu früh gegangen", "Zu spät gegangen", "Nicht geplant", "Unentschuldigt gefehlt", "Lange Schicht"},
	"es": {"Falta el fichaje de entrada", "Falta el fichaje de salida", "Entrada anticipada", "Entrada tardía", "Salida anticipada", "Salida tardía", "No planificado", "Ausencia injustificada", "Turno largo"},
	"fr": {"Pointage d'entrée manquant", "Pointage de sortie manquant", "Arrivée en avance", "Arrivée en retard", "Départ anticipé", "Départ tardif", "Non planifié", "Absence injustifiée", "Poste long"},
	"nl": {"Ontbrekende in-registratie", "Ontbrekende uit-registratie", "Te vroeg gekomen", "Te laat gekomen", "Te vroeg vertrokken", "Te laat vertrokken", "Niet ingepland", "Ongeoorloofd afwezig", "Lange dienst"},
	"pt": {"Marcação de entrada em falta", "Marcação de saída em falta", "Entrada antecipada", "Entrada atrasada", "Saída antecipada", "Saída tardia", "Não programado", "Falta injustificada", "Turno longo"},
}

// exceptionLanguages are the languages of exceptionNames.
var exceptionLanguages = slices.Sorted(maps.Keys(exceptionNames))

// nameExceptions sets the display names of exceptions in the language of the caller, and the
// language of the response. Exceptions without a translation keep their English name.
func nameExceptions(ctx context.Context, types ...*timekeepingv1.TimecardExceptionType) error {
	chosen := acceptlanguage.From(ctx).Choose(append([]string{"en"}, exceptionLanguages...))
	if chosen < 1 || len(types) == 0 {
		return nil
	}
	language := exceptionLanguages[chosen-1]
	for _, t := range types {
		if n := int(t.GetId()); n >= 1 && n <= len(exceptionNames[language]) {
			t.DisplayName = exceptionNames[language][n-1]
		}
	}
	return acceptlanguage.SetContentLanguage(ctx, language)
}
