package lint

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
)

// The parts of SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif/sarif/v2.1.0) that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Default struct {
			Enabled bool  `json:"enabled"`
			Level   Level `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        Level             `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifRegion struct {
		ByteOffset int64 `json:"byteOffset"`
		ByteLength int64 `json:"byteLength"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// SARIF writes the report for tools that show findings of many checkers. The physical location of a
// finding is the entry's place in the data, its logical one the entry.
func (r *Report) SARIF(w io.Writer, version string, c *Config) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "sndpak", Version: version, InformationURI: "https://github.com/sndpak/sndpak"}
	for _, rule := range c.All() {
		x := sarifRule{ID: rule.ID, Short: sarifText{rule.Text}}
		x.Default.Enabled, x.Default.Level = rule.Level != Off, rule.Level
		switch rule.Level {
		case AsFound:
			x.Default.Level = Warning
		case Off:
			x.Default.Level = "none"
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, x)
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, r.result(f))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (r *Report) result(f Finding) sarifResult {
	text := f.Text
	if f.Entry != "" {
		text = f.Entry + ": " + f.Text
	}
	var at sarifLocation
	at.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(r.Pack)}).String()
	if f.Size > 0 {
		at.Physical.Region = &sarifRegion{f.Offset, f.Size}
	}
	if f.Entry != "" {
		at.Logical = []sarifLogical{{f.Entry, "resource"}}
	}
	// What is told of an entry stays the same finding when numbers in its text change.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s", f.Rule, f.Entry))
	return sarifResult{
		RuleID: f.Rule, RuleIndex: slices.IndexFunc(Rules, func(x Rule) bool { return x.ID == f.Rule }),
		Level: f.Level, Message: sarifText{text}, Locations: []sarifLocation{at},
		Fingerprints: map[string]string{"sndpakFinding/v1": fmt.Sprintf("%x", sum[:12])},
	}
}
