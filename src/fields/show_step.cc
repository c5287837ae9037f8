#include "fields/show_step.h"

#include "fields/step_composites.h"
#include "fields/step_fields.h"

namespace muster::fields {

void show_step(const StepView& view, const ShowOptions& options, std::string& out) {
  Record record(out, options.oneliner);
  step_record().print(view, options.details, record);
  record.end();
}

void show_srun(const StepView& view, std::string& out) {
  put_or(out, view.row.srun_host);
  out += ':';
  put_number(out, view.row.srun_pid);
}

}  // namespace muster::fields
