//! The fixed parts of the page, in the order in which they are joined.

pub const FRAME: &str = include_str!("../assets/page.html");

const STYLES: [&str; 6] = [
    include_str!("../assets/style/colours.css"),
    include_str!("../assets/style/page.css"),
    include_str!("../assets/style/tables.css"),
    include_str!("../assets/style/charts.css"),
    include_str!("../assets/style/regions.css"),
    include_str!("../assets/style/investigation.css"),
];

/// Each file defines one object that the later ones use; the last one draws the page.
const SCRIPTS: [&str; 58] = [
    include_str!("../assets/script/texts.js"),
    include_str!("../assets/script/names.js"),
    include_str!("../assets/script/numbers.js"),
    include_str!("../assets/script/data.js"),
    include_str!("../assets/script/dom.js"),
    include_str!("../assets/script/chart.js"),
    include_str!("../assets/script/chosen.js"),
    include_str!("../assets/script/places.js"),
    include_str!("../assets/script/comparison.js"),
    include_str!("../assets/script/router.js"),
    include_str!("../assets/script/time_bars.js"),
    include_str!("../assets/script/chosen_bar.js"),
    include_str!("../assets/script/column_terms.js"),
    include_str!("../assets/script/terms.js"),
    include_str!("../assets/script/table_view.js"),
    include_str!("../assets/script/chosen_sums.js"),
    include_str!("../assets/script/chosen_distances.js"),
    include_str!("../assets/script/layout_sums.js"),
    include_str!("../assets/script/chosen_tables.js"),
    include_str!("../assets/script/chosen_answers.js"),
    include_str!("../assets/script/matrix_chart.js"),
    include_str!("../assets/script/layout_chart.js"),
    include_str!("../assets/script/curve_chart.js"),
    include_str!("../assets/script/map_levels.js"),
    include_str!("../assets/script/map_drawing.js"),
    include_str!("../assets/script/map_chart.js"),
    include_str!("../assets/script/map_pair.js"),
    include_str!("../assets/script/folded_addresses.js"),
    include_str!("../assets/script/spot_drawing.js"),
    include_str!("../assets/script/spot_chart.js"),
    include_str!("../assets/script/activity_chart.js"),
    include_str!("../assets/script/region_chart.js"),
    include_str!("../assets/script/stacked_bars.js"),
    include_str!("../assets/script/instruction_chart.js"),
    include_str!("../assets/script/size_chart.js"),
    include_str!("../assets/script/thread_chart.js"),
    include_str!("../assets/script/step_plot.js"),
    include_str!("../assets/script/line_choices.js"),
    include_str!("../assets/script/live_chart.js"),
    include_str!("../assets/script/series_chart.js"),
    include_str!("../assets/script/source_view.js"),
    include_str!("../assets/script/flame_chart.js"),
    include_str!("../assets/script/entity_view.js"),
    include_str!("../assets/script/cards.js"),
    include_str!("../assets/script/chosen_findings.js"),
    include_str!("../assets/script/overview.js"),
    include_str!("../assets/script/offenders.js"),
    include_str!("../assets/script/sharing.js"),
    include_str!("../assets/script/audit.js"),
    include_str!("../assets/script/search.js"),
    include_str!("../assets/script/part_view.js"),
    include_str!("../assets/script/compared_cards.js"),
    include_str!("../assets/script/compared_curves.js"),
    include_str!("../assets/script/compared_layouts.js"),
    include_str!("../assets/script/flame_difference.js"),
    include_str!("../assets/script/comparison_view.js"),
    include_str!("../assets/script/sections.js"),
    include_str!("../assets/script/main.js"),
];

pub fn style() -> String {
    STYLES.join("\n")
}

/// All scripts as one, whose names don't reach the page's global scope.
pub fn script() -> String {
    format!("'use strict';\n{{\n{}\n}}\n", SCRIPTS.join("\n"))
}
