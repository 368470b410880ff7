// Package encoding writes a Window, the entries of a schedule, as the bytes of a Schedule message.
//
// The entries of a pattern are compiled once into the bytes of the message, with placeholders for
// values that depend on the day. Writing an entry copies the bytes and fills the placeholders. No
// message is built for a generated entry: the bytes travel as unknown fields of the typed message,
// and every gRPC client decodes them as usual.
package encoding
